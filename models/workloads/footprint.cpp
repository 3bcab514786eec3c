#include "models/workloads/footprint.hpp"

#include <algorithm>

namespace equarx::workloads {
namespace {

/// Weight bytes of one layer on a chip: its shard of the matrices, read or not, and the norms, which
/// are replicated.
double layer_weights(const Transformer& model, const std::vector<Operation>& layer) {
  double bytes = norm_parameters(model) * bytes_of(model.weights);
  for (const Operation& operation : layer)
    bytes += operation.weight_bytes * operation.gemm.stored / operation.gemm.matrices;
  return bytes;
}

}  // namespace

double weight_bytes(const Transformer& model, std::uint32_t chips,
                    const PhaseOperations& operations) {
  const double tables = model.tied_embeddings ? 1.0 : 2.0;
  const double tables_and_norm =
      tables * shard(model, chips).vocabulary * model.d_model + final_norm_parameters(model);
  double layers = 0.0;
  for (const KindCount& count : layer_kinds(model))
    layers += count.layers * layer_weights(model, operations.layer(count.kind));
  return layers + tables_and_norm * bytes_of(model.weights);
}

double cache_bytes(const Transformer& model, const Extent& extent, std::uint32_t chips,
                   const AttentionMethod& method) {
  const double local = local_layers(model);
  const double positions = local * cached_keys(model, extent, method, true) +
                           (model.layers - local) * cached_keys(model, extent, method, false);
  return positions * extent.batch * cached_elements(model, chips) * method.kv_bytes;
}

double activation_bytes(const Transformer& model, double rows, const PhaseOperations& operations) {
  double most = 0.0;
  const auto add = [&](const std::vector<Operation>& part) {
    for (const Operation& operation : part) most = std::max(most, operation.live_bytes);
  };
  add(operations.embedding);
  for (const LayerOperations& layer : operations.layers) add(layer.operations);
  add(operations.head);
  return rows * allreduce_bytes_per_token(model) + most;
}

Footprint footprint(const Transformer& model, const Phase& phase, std::uint32_t chips,
                    const AttentionMethod& method, const PhaseOperations& operations) {
  const Extent size = extent(phase);
  return {weight_bytes(model, chips, operations), cache_bytes(model, size, chips, method),
          activation_bytes(model, size.rows(), operations)};
}

double missing_bytes(const Footprint& footprint, double hbm_capacity) {
  return std::max(0.0, footprint.total() - hbm_capacity);
}

}  // namespace equarx::workloads
