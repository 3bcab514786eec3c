#include "models/workloads/experts.hpp"

#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/exceptions/exceptions.hpp"
#include "models/workloads/vector_work.hpp"

namespace equarx::workloads {
namespace {

std::vector<std::uint32_t> divisors(std::uint32_t number) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t one = 1; one <= number; ++one)
    if (number % one == 0) all.push_back(one);
  return all;
}

/// Rows of all experts for a group of tokens, of whole rows each.
double capacity_of(const Transformer& model, const ExpertMethod& method, double tokens) {
  const Experts& experts = model.experts.value();
  const double mean = tokens * experts.top_k / experts.count;
  const double capacity = std::floor(method.capacity_factor.value() * mean);
  if (capacity < 1.0)
    throw exceptions::UserError(
        "capacity_factor",
        fmt::format("{} leaves each of {} experts of {} less than one of {} x {} rows; "
                    "use "
                    "at least {}, or more tokens",
                    *method.capacity_factor, experts.count, model.name, tokens, experts.top_k,
                    1.0 / mean));
  return capacity * experts.count;
}

/// Parts that build the operations of experts.
struct ExpertParts {
  const LayerContext& layer;
  const ExpertMethod& method;
  ExpertLoad load;

  const Transformer& model() const { return layer.model; }
  double d_model() const { return model().d_model; }
  bool has_masks() const { return method.dispatch == Dispatch::einsum; }
  /// Elements of a mask: tokens x rows of all experts for their group.
  double mask_elements() const { return layer.rows * load.capacity; }

  Operation routing() const;
  Operation masks() const;
  Operation gather() const;
  Operation exchange(std::string_view name) const;
  Operation sum() const;
  std::vector<Operation> routed() const;
  std::vector<Operation> shared() const;
  void multiply_by_mask(Operation& operation) const;
};

/// Softmax, and a pass over the scores for each expert that is selected.
Operation ExpertParts::routing() const {
  const Experts& experts = model().experts.value();
  return elementwise("routing", layer.rows * experts.count, 1.0, kSoftmax + experts.top_k);
}

/// One-hot masks of dispatch and combination: a comparison each, and the weight of the second.
Operation ExpertParts::masks() const {
  constexpr double kMasks = 2.0;
  Operation operation{.name = "masks", .kind = OperationKind::vector};
  operation.vector_ops = mask_elements() * (kMasks * (kAdd + kToBf16) + kMultiply);
  operation.written_bytes = kMasks * mask_elements() * kActivationBytes;
  operation.live_bytes = operation.written_bytes;
  return operation;
}

void ExpertParts::multiply_by_mask(Operation& operation) const {
  constexpr double kMultiplyAdd = 2.0;
  operation.flops = kMultiplyAdd * mask_elements() * d_model();
  operation.read_bytes += mask_elements() * kActivationBytes;
  operation.live_bytes += mask_elements() * kActivationBytes;
}

/// Normalizes the residual stream if the model has pre-norms, and writes the rows of experts.
Operation ExpertParts::gather() const {
  const double sent = load.copies * d_model();
  Operation operation{.name = "dispatch", .kind = OperationKind::vector};
  if (model().pre_norms) operation.vector_ops = layer.norm_ops();
  operation.read_bytes = layer.residual_bytes();
  operation.written_bytes = sent * kActivationBytes;
  operation.live_bytes = (layer.width() + sent) * kActivationBytes;
  if (has_masks()) multiply_by_mask(operation);
  return operation;
}

/// All-to-all of the rows of a chip.
Operation ExpertParts::exchange(std::string_view name) const {
  Operation operation{.name = name, .kind = OperationKind::alltoall};
  operation.collective_bytes = load.copies * d_model() * kActivationBytes;
  operation.live_bytes = 2.0 * operation.collective_bytes;
  return operation;
}

/// Sum of the weighted results of experts and the results of shared experts.
Operation ExpertParts::sum() const {
  const double results = load.copies * d_model();
  const double shared = model().experts->shared_ffn > 0 ? layer.width() : 0.0;
  Operation operation{.name = "combine", .kind = OperationKind::vector};
  operation.vector_ops = (results + shared) * (kFromBf16 + kAdd) + layer.width() * kToBf16;
  if (!has_masks()) operation.vector_ops += results * kMultiply;
  operation.read_bytes = (results + shared) * kActivationBytes;
  operation.written_bytes = layer.width() * kActivationBytes;
  operation.live_bytes = operation.read_bytes + operation.written_bytes;
  if (has_masks()) multiply_by_mask(operation);
  return operation;
}

/// Grouped GEMMs of the experts of a chip.
std::vector<Operation> ExpertParts::routed() const {
  const double inner = layer.shard.expert_ffn;
  GemmShape shape{.rows = load.rows,
                  .inputs = d_model(),
                  .outputs = inner_matrices(model()) * inner,
                  .matrices = load.used,
                  .stored = load.stored};
  const Operation in = matrix("experts_in", shape, model().weights);
  shape.inputs = inner;
  shape.outputs = d_model();
  return {in, activation("experts_activation", model(), load.rows * inner),
          matrix("experts_out", shape, model().weights)};
}

std::vector<Operation> ExpertParts::shared() const {
  const double inner = layer.shard.shared_ffn;
  if (inner == 0.0) return {};
  return {input_matrix("shared_in", layer, inner_matrices(model()) * inner),
          activation("shared_activation", model(), layer.rows * inner),
          matrix("shared_out", {.rows = layer.rows, .inputs = inner, .outputs = d_model()},
                 model().weights)};
}

}  // namespace

ExpertLoad expert_load(const Transformer& model, const ExpertMethod& method, double tokens) {
  const Experts& experts = model.experts.value();
  if (method.chips == 0 || experts.count % method.chips != 0)
    throw std::invalid_argument(
        fmt::format("{} experts of {} cannot be divided over {} chips; use {}", experts.count,
                    model.name, method.chips, fmt::join(divisors(experts.count), ", ")));
  ExpertLoad load{.copies = tokens * experts.top_k,
                  .rows = tokens * experts.top_k * method.imbalance,
                  .stored = static_cast<double>(experts.count) / method.chips};
  if (method.capacity_factor) {
    const double group = method.group > 0.0 ? method.group : tokens;
    load.capacity = capacity_of(model, method, group);
    load.copies = load.rows = load.capacity * tokens / group;
    load.used = load.stored;
    return load;
  }
  const double skipped = 1.0 - static_cast<double>(experts.top_k) / experts.count;
  load.used = load.stored * (1.0 - std::pow(skipped, tokens * method.chips));
  return load;
}

std::vector<Operation> expert_operations(const LayerContext& context, const ExpertMethod& method) {
  const ExpertParts parts{context, method, expert_load(context.model, method, context.rows)};
  std::vector<Operation> operations = {input_matrix(kRouter, context, context.model.experts->count),
                                       parts.routing()};
  if (parts.has_masks()) operations.push_back(parts.masks());
  operations.push_back(parts.gather());
  if (method.chips > 1) operations.push_back(parts.exchange("dispatch"));
  append(operations, parts.shared());
  append(operations, parts.routed());
  if (method.chips > 1) operations.push_back(parts.exchange("combine"));
  operations.push_back(parts.sum());
  return operations;
}

}  // namespace equarx::workloads
