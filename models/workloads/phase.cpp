#include "models/workloads/phase.hpp"

#include <fmt/format.h>

#include "base/exceptions/exceptions.hpp"

namespace equarx::workloads {
namespace {

struct Size {
  const char* key;  ///< of the number of positions
  std::uint64_t positions;
  std::uint64_t batch;
};

Size size_of(const Phase& phase) {
  if (const auto* prefill = std::get_if<Prefill>(&phase))
    return {"tokens", prefill->tokens, prefill->batch};
  const Decode& decode = std::get<Decode>(phase);
  return {"context", decode.context, decode.batch};
}

}  // namespace

Extent extent(const Phase& phase) {
  const Size size = size_of(phase);
  const auto positions = static_cast<double>(size.positions);
  const double queries = std::holds_alternative<Prefill>(phase) ? positions : 1.0;
  return {queries, positions, static_cast<double>(size.batch)};
}

void check_phase(const Transformer& model, const Phase& phase) {
  const Size size = size_of(phase);
  if (size.positions == 0 || size.positions > model.largest_context)
    throw exceptions::UserError(size.key, fmt::format("is {}; {} takes 1 to {}", size.positions,
                                                      model.name, model.largest_context));
  if (size.batch == 0) throw exceptions::UserError("batch", "is 0; it must be at least 1");
}

double allreduce_bytes(const Transformer& model, const Phase& phase) {
  return extent(phase).rows() * allreduce_bytes_per_token(model);
}

}  // namespace equarx::workloads
