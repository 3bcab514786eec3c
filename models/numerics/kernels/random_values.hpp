// Random values in blocks, compiled for every instruction set that Highway supports on this
// architecture and dispatched at run time. All give the same bits: IEEE operations in the same
// order, no fused multiply-add, no approximation, no library functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace equarx::numerics::kernels {

/// Philox counters per block; each yields four 32-bit words.
inline constexpr std::size_t kBlockCounters = 64;
/// Values per block.
inline constexpr std::size_t kRandomBlock = 4 * kBlockCounters;
/// Destination of the values of a block.
using RandomBlock = std::span<float, kRandomBlock>;

/// Identifies the block that starts at element kRandomBlock x index of a rank's tensor.
struct BlockOfValues {
  std::uint64_t seed = 1;
  std::uint32_t rank = 0;
  std::uint64_t index = 0;
};

/// Quarters of a block, of kBlockCounters values each. Only these are written.
struct Quarters {
  std::size_t begin = 0;  ///< < end
  std::size_t end = 4;    ///< <= 4

  bool contain(std::size_t quarter) const { return begin <= quarter && quarter < end; }
};

/// Normal values with mean 0 and variance 1; magnitudes up to 6.66, the limit of 32-bit uniforms.
/// Box and Muller (1958): two uniforms give two independent normals.
void fill_normal(const BlockOfValues& block, Quarters quarters, RandomBlock out);

/// Uniform values on [-1, 1), in multiples of 2^-23.
void fill_uniform(const BlockOfValues& block, Quarters quarters, RandomBlock out);

/// Student's t with 3 degrees of freedom, scaled to variance 1. Takes two words per value, hence
/// two batches of counters. Bailey, "Polar generation of random variates with the t-distribution",
/// Math. Comp. 62 (1994): for uniform u, v, t = sqrt(d (u^(-2/d) - 1)) cos(2 pi v) has d degrees of
/// freedom and variance d / (d - 2). For d = 3, scaled to variance 1, the factor d cancels.
void fill_heavy_tailed(const BlockOfValues& block, Quarters quarters, RandomBlock out);

}  // namespace equarx::numerics::kernels
