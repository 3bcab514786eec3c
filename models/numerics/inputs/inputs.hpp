// Synthetic tensors from a counter-based generator: any piece of any rank's tensor, in any order.
#pragma once

#include <cstdint>
#include <span>

namespace equarx::numerics {

/// Distribution of synthetic values.
enum class Distribution : std::uint8_t {
  normal,       ///< mean 0, variance 1; magnitudes up to 6.66, the limit of 32-bit uniforms
  uniform,      ///< on [-1, 1), in multiples of 2^-23
  heavy_tailed  ///< Student's t with 3 degrees of freedom, scaled to variance 1
};

/// Parameters of a synthetic tensor.
struct InputSpec {
  Distribution distribution = Distribution::normal;
  std::uint64_t seed = 1;
  bool identical_ranks = false;  ///< every rank gets the values of rank 0

  bool operator==(const InputSpec&) const = default;
};

/// Fills `out` with elements first_element, first_element + 1, ... of the tensor of `rank`. An
/// element depends only on the spec, the rank and its index, not on how the tensor is split into
/// calls, and is bit-identical with every compiler (IEEE arithmetic, no library functions except
/// sqrt).
void generate(const InputSpec& spec, std::uint32_t rank, std::uint64_t first_element,
              std::span<float> out);

}  // namespace equarx::numerics
