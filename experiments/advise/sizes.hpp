// From which size of the tensor quantizing pays.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "experiments/config/config.hpp"

namespace equarx::advise {

/// What quantizing gains at a size.
struct SizeGain {
  std::uint64_t bytes = 0;  ///< of the tensor on each chip
  double speedup = 0.0;     ///< the plain way's time / the quantized one's
};

/// Simulates both ways at powers of two from 16 KiB to 256 MiB, each cut as is fastest at that size. `config` has
/// the plain way and the quantized one as its collectives. Sizes that one of them cannot do are left out.
std::vector<SizeGain> gains_by_size(const config::ExperimentConfig& config);

/// The smallest of `sizes` from which on all gain; none if the largest does not.
std::optional<SizeGain> pays_from(const std::vector<SizeGain>& sizes);

}  // namespace equarx::advise
