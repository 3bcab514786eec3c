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

/// @param operations  operations of the same phase on `chips` chips
Footprint footprint(const Transformer& model, const Phase& phase, std::uint32_t chips,
                    const AttentionMethod& method, const PhaseOperations& operations);

/// Bytes by which the footprint exceeds the capacity; 0 if it fits.
double missing_bytes(const Footprint& footprint, double hbm_capacity);

}  // namespace equarx::workloads
