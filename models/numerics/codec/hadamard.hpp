// Hadamard rotation, which spreads outliers over their block before quantization. As in SDP4Bit
// (jindajia/SDP4Bit, code/tools/jet_quant_cuda, fast_hadamard_transform_common.h).
#pragma once

#include <cstddef>
#include <span>

namespace equarx::numerics {

/// Block length of the rotation.
inline constexpr std::size_t kHadamardOrder = 32;

/// Multiplies each block of 32 consecutive values by Sylvester's Hadamard matrix, with elements
/// (-1)^popcount(i & j), in place and in FP32: butterflies (a + b, a - b) of strides 1, 2, 4, 8,
/// 16. Not normalised, so values grow by sqrt(32). A remainder of fewer than 32 values is left
/// unchanged. A non-finite value makes its whole block non-finite.
void rotate(std::span<float> values);

/// Inverse of rotate(): the same transform, times 2^-5. Exact if no sum was rounded.
void rotate_back(std::span<float> values);

}  // namespace equarx::numerics
