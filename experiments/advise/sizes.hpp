// Speedup of quantizing by tensor size, and the break-even size.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "experiments/config/config.hpp"

namespace equarx::advise {

/// Speedup at one size.
struct SizeGain {
  std::uint64_t bytes = 0;  ///< tensor size per chip
  double speedup = 0.0;     ///< plain time / quantized time
};

/// Tensor sizes: powers of two from 16 KiB to 256 MiB.
std::vector<std::uint64_t> gain_sizes();

/// The configuration with tensors of `bytes`, without files, and collectives with the fastest tiling
/// at that size.
config::ExperimentConfig at_size(config::ExperimentConfig config, std::uint64_t bytes);

/// Simulates both collectives of `config` (plain, quantized) at gain_sizes(), each with the
/// fastest tiling at that size. Omits infeasible sizes.
std::vector<SizeGain> gains_by_size(const config::ExperimentConfig& config);

/// Returns the smallest of `sizes` from which all speedups exceed 1; std::nullopt if the largest
/// has no speedup.
std::optional<SizeGain> break_even_size(const std::vector<SizeGain>& sizes);

}  // namespace equarx::advise
