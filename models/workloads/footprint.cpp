#include "models/workloads/footprint.hpp"

#include <algorithm>

namespace equarx::workloads {
namespace {

/// Weight bytes of one layer on a chip: its shard of the matrices, and the norms, which are
/// replicated.
double layer_weights(const Transformer& model, const std::vector<Operation>& layer) {
  double bytes = norm_parameters(model) * bytes_of(model.weights);
  for (const Operation& operation : layer) bytes += operation.weight_bytes;
  return bytes;
}

double weight_bytes(const Transformer& model, const Shard& shard,
                    const PhaseOperations& operations) {
  const double tables = model.tied_embeddings ? 1.0 : 2.0;
  const double head_and_norm =
      (tables * shard.vocabulary + 1.0) * model.d_model * bytes_of(model.weights);
  // Local and global layers have the same matrices.
  return model.layers * layer_weights(model, operations.global_layer) + head_and_norm;
}

double cache_bytes(const Transformer& model, const Extent& extent, const Shard& shard,
                   const AttentionMethod& method) {
  const double local = local_layers(model);
  const double positions = local * cached_keys(model, extent, method, true) +
                           (model.layers - local) * cached_keys(model, extent, method, false);
  constexpr double kKeyAndValue = 2.0;
  return positions * extent.batch * kKeyAndValue * shard.kv_heads * model.head_size *
         method.kv_bytes;
}

double activation_bytes(const Transformer& model, const Phase& phase,
                        const PhaseOperations& operations) {
  double most = 0.0;
  for (const auto* part :
       {&operations.embedding, &operations.local_layer, &operations.global_layer, &operations.head})
    for (const Operation& operation : *part) most = std::max(most, operation.live_bytes);
  const double residual = allreduce_bytes(model, phase);
  return residual + most;
}

}  // namespace

Footprint footprint(const Transformer& model, const Phase& phase, std::uint32_t chips,
                    const AttentionMethod& method, const PhaseOperations& operations) {
  const Shard share = shard(model, chips);
  return {weight_bytes(model, share, operations), cache_bytes(model, extent(phase), share, method),
          activation_bytes(model, phase, operations)};
}

double missing_bytes(const Footprint& footprint, double hbm_capacity) {
  return std::max(0.0, footprint.total() - hbm_capacity);
}

}  // namespace equarx::workloads
