#include "experiments/plan/program_cache.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace equarx::plan {
namespace {

using collectives::Program;
using collectives::ProgramRequest;

bool is_own(const numerics::BlockFormat& format) { return format.rule == numerics::ScaleRule::own; }

/// True if equal requests make equal programs, however much later.
bool can_be_kept(config::Algorithm algorithm, const ProgramRequest& request) {
  const auto table = collectives::algorithms();
  const std::less<> before;  // of pointers to other objects
  const bool is_of_table =
      !before(algorithm, table.data()) && before(algorithm, table.data() + table.size());
  return is_of_table && request.graph.ranks() == 0 && !is_own(request.reduce_scatter) &&
         !is_own(request.all_gather) && !is_own(request.reduce_scatter_between) &&
         !is_own(request.all_gather_between);
}

auto members_of(const collectives::CutRule& cut) {
  return std::tie(cut.minishards, cut.microshards, cut.elements_per_scale, cut.sizes);
}

/// All members but the graph.
auto members_of(const ProgramRequest& request) {
  const auto& [collective, grid, elements, dtype, ring, reduce_scatter, all_gather, cut,
               reduce_scatter_between, all_gather_between, folded, folded_rate, rows, rows_at_once,
               order, moves_within_first, uploads, graph] = request;
  return std::tuple_cat(
      std::tie(elements, collective, grid, dtype, ring, reduce_scatter, all_gather),
      members_of(cut),
      std::tie(reduce_scatter_between, all_gather_between, folded, folded_rate, rows, rows_at_once,
               order, moves_within_first, uploads));
}

template <typename T>
std::uint64_t bytes_of(const std::vector<T>& list) {
  return list.capacity() * sizeof(T);
}

std::uint64_t bytes_of(const Program& program) {
  return sizeof program + bytes_of(program.channels) + bytes_of(program.buffers) +
         bytes_of(program.messages) + bytes_of(program.instructions);
}

}  // namespace

std::shared_ptr<const Program> ProgramCache::make(config::Algorithm algorithm,
                                                  const ProgramRequest& request) {
  const bool keeps = can_be_kept(algorithm, request);
  if (keeps)
    if (auto kept = find(algorithm, request)) return kept;
  auto made = std::make_shared<const Program>(algorithm->make(request));
  if (keeps) keep({algorithm, request, made, bytes_of(*made)});
  return made;
}

std::shared_ptr<const Program> ProgramCache::find(config::Algorithm algorithm,
                                                  const ProgramRequest& request) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return entry.algorithm == algorithm && members_of(entry.request) == members_of(request);
  });
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return found->program;
}

void ProgramCache::keep(Entry entry) {
  if (entry.bytes > most_bytes_) return;
  const std::scoped_lock lock(mutex_);
  bytes_ += entry.bytes;
  entries_.push_front(std::move(entry));
  while (bytes_ > most_bytes_ || entries_.size() > kMostPrograms) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
}

ProgramCache& program_cache() {
  constexpr std::uint64_t kMostBytes = 16 << 20;
  static ProgramCache cache(kMostBytes);
  return cache;
}

}  // namespace equarx::plan
