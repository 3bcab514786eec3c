// What a phase needs of a chip's memory.
#pragma once

#include "models/workloads/operations.hpp"

namespace equarx::workloads {

/// HBM of one chip, in bytes.
struct Footprint {
  double weights = 0.0;
  double kv_cache = 0.0;     ///< of all layers, at the end of the phase
  double activations = 0.0;  ///< the residual, and what the hungriest operation needs besides

  double total() const { return weights + kv_cache + activations; }
};

/// `operations`: of the same phase, on as many chips.
Footprint footprint(const Transformer& model, const Phase& phase, std::uint32_t chips,
                    const AttentionMethod& method, const PhaseOperations& operations);

/// By how many bytes the phase exceeds the memory; 0 if it fits.
double missing_bytes(const Footprint& footprint, double hbm_capacity);

}  // namespace equarx::workloads
