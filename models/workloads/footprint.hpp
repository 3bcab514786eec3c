// Memory footprint of a phase per chip.
#pragma once

#include "models/workloads/operations.hpp"

namespace equarx::workloads {

/// HBM of one chip, in bytes.
struct Footprint {
  double weights = 0.0;
  double kv_cache = 0.0;     ///< of all layers, at the end of the phase
  double activations = 0.0;  ///< the residual stream, plus the operation with the largest live data

  double total() const { return weights + kv_cache + activations; }
};

/// Weights on one chip; `operations`: of any phase on `chips` chips.
double weight_bytes(const Transformer& model, std::uint32_t chips,
                    const PhaseOperations& operations);

/// KV cache of `extent.batch` sequences on one chip of `chips`, in all layers.
double cache_bytes(const Transformer& model, const Extent& extent, std::uint32_t chips,
                   const AttentionMethod& method);

/// Activations of `operations` on one chip, for `rows` positions.
double activation_bytes(const Transformer& model, double rows, const PhaseOperations& operations);

/// @param operations  operations of the same phase on `chips` chips
Footprint footprint(const Transformer& model, const Phase& phase, std::uint32_t chips,
                    const AttentionMethod& method, const PhaseOperations& operations);

/// Bytes by which the footprint exceeds the capacity; 0 if it fits.
double missing_bytes(const Footprint& footprint, double hbm_capacity);

}  // namespace equarx::workloads
