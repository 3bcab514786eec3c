// Synthetic tensors, made from counters: any piece of any rank's tensor can be made at any time.
#pragma once

#include <cstdint>
#include <span>

namespace equarx::numerics {

/// How made-up values are distributed.
enum class Distribution : std::uint8_t {
  normal,       ///< mean 0, variance 1; magnitudes up to 6.66, as 32-bit uniforms go
  uniform,      ///< on [-1, 1), multiples of 2^-23
  heavy_tailed  ///< Student's t with 3 degrees of freedom, scaled to variance 1
};

/// Which values are made up for a tensor.
struct InputSpec {
  Distribution distribution = Distribution::normal;
  std::uint64_t seed = 1;
  bool identical_ranks = false;  ///< every rank has the values of rank 0

  bool operator==(const InputSpec&) const = default;
};

/// Fills `out` with elements first_element, first_element + 1, ... of the tensor of `rank`. Element
/// e depends on the spec, the rank and e only, however the tensor is cut into calls, and is the
/// same bit for bit with every compiler (IEEE arithmetic, no library functions but sqrt).
void generate(const InputSpec& spec, std::uint32_t rank, std::uint64_t first_element,
              std::span<float> out);

}  // namespace equarx::numerics
