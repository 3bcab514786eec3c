// Random values a block at a time, compiled for every instruction set that Highway knows on this
// architecture and chosen at run time. All give the same bits: IEEE operations in the same order, no
// fused multiply-add, no approximation, no library functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace equarx::numerics::kernels {

/// Philox counters that are drawn for a block, of which each makes four words of 32 bits.
inline constexpr std::size_t kBlockCounters = 64;
/// Values in a block.
inline constexpr std::size_t kRandomBlock = 4 * kBlockCounters;
/// Room for the values of a block.
using RandomBlock = std::span<float, kRandomBlock>;

/// Which block: the one that begins with value kRandomBlock x index of a rank's tensor.
struct BlockOfValues {
  std::uint64_t seed = 1;
  std::uint32_t rank = 0;
  std::uint64_t index = 0;
};

/// Mean 0, variance 1; magnitudes up to 6.66, as 32-bit uniforms go. Box and Muller (1958): two
/// uniforms make two independent normals.
void fill_normal(const BlockOfValues& block, RandomBlock out);

/// On [-1, 1), multiples of 2^-23.
void fill_uniform(const BlockOfValues& block, RandomBlock out);

/// Student's t with 3 degrees of freedom, scaled to variance 1. Two words a value, so two batches of
/// counters. Bailey, "Polar generation of random variates with the t-distribution", Math. Comp. 62
/// (1994): with uniform u, v, t = sqrt(d (u^(-2/d) - 1)) cos(2 pi v) has d degrees of freedom, and
/// variance d / (d - 2). For d = 3, scaled to variance 1, the factor d cancels.
void fill_heavy_tailed(const BlockOfValues& block, RandomBlock out);

}  // namespace equarx::numerics::kernels
