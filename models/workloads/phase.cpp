#include "models/workloads/phase.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace equarx::workloads {
namespace {

struct Size {
  PhaseError::Field field;  ///< name of the number of positions
  std::uint64_t positions;
  std::uint64_t batch;
};

Size size_of(const Phase& phase) {
  if (const auto* prefill = std::get_if<Prefill>(&phase))
    return {PhaseError::Field::tokens, prefill->tokens, prefill->batch};
  const Decode& decode = std::get<Decode>(phase);
  return {PhaseError::Field::context, decode.context, decode.batch};
}

}  // namespace

std::string_view name(PhaseError::Field field) {
  switch (field) {
    case PhaseError::Field::tokens: return "tokens";
    case PhaseError::Field::context: return "context";
    case PhaseError::Field::batch: return "batch";
  }
  throw std::logic_error("unknown number of a phase");
}

Extent extent(const Phase& phase) {
  const Size size = size_of(phase);
  const auto positions = static_cast<double>(size.positions);
  const double queries = std::holds_alternative<Prefill>(phase) ? positions : 1.0;
  return {queries, positions, static_cast<double>(size.batch)};
}

void check_phase(const Transformer& model, const Phase& phase) {
  const Size size = size_of(phase);
  if (size.positions == 0 || size.positions > model.largest_context)
    throw PhaseError(size.field, fmt::format("{} is {}; {} takes 1 to {}", name(size.field),
                                             size.positions, model.name, model.largest_context));
  if (size.batch == 0)
    throw PhaseError(PhaseError::Field::batch, "batch is 0; it must be at least 1");
}

double allreduce_bytes(const Transformer& model, const Phase& phase) {
  return extent(phase).rows() * allreduce_bytes_per_token(model);
}

}  // namespace equarx::workloads
