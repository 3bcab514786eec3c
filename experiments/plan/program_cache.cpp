#include "experiments/plan/program_cache.hpp"

#include <vector>

namespace equarx::plan {
namespace {

using collectives::Program;
using collectives::ProgramRequest;

template <typename T>
std::uint64_t bytes_of(const std::vector<T>& list) {
  return list.capacity() * sizeof(T);
}

}  // namespace

std::uint64_t bytes_of(const Program& program) {
  return sizeof program + bytes_of(program.channels) + bytes_of(program.buffers) +
         bytes_of(program.messages) + bytes_of(program.instructions);
}

std::shared_ptr<const Program> ProgramCache::make(config::Algorithm algorithm,
                                                  const ProgramRequest& request) {
  const bool keeps = can_be_kept(algorithm, request);
  if (keeps)
    if (auto kept = kept_.find(algorithm, request)) return kept;
  auto made = std::make_shared<const Program>(algorithm->make(request));
  if (keeps) kept_.keep(algorithm, request, made, bytes_of(*made));
  return made;
}

Program ProgramCache::copy(config::Algorithm algorithm, const ProgramRequest& request) {
  const bool keeps = can_be_kept(algorithm, request);
  if (keeps)
    if (const auto kept = kept_.find(algorithm, request)) return *kept;
  Program made = algorithm->make(request);
  if (const std::uint64_t bytes = bytes_of(made); keeps && kept_.has_room(bytes))
    kept_.keep(algorithm, request, std::make_shared<const Program>(made), bytes);
  return made;
}

ProgramCache& program_cache() {
  constexpr std::uint64_t kMostBytes = 16 << 20;
  static ProgramCache cache(kMostBytes);
  return cache;
}

}  // namespace equarx::plan
