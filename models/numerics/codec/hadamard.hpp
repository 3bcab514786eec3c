// The rotation that spreads large values over their neighbours before they are quantized: SDP4Bit's (jindajia/SDP4Bit,
// code/tools/jet_quant_cuda, fast_hadamard_transform_common.h).
#pragma once

#include <cstddef>
#include <span>

namespace equarx::numerics {

/// Values that are rotated together.
inline constexpr std::size_t kHadamardOrder = 32;

/// Multiplies each 32 consecutive values by Sylvester's Hadamard matrix, whose element (i, j) is -1 to the number of
/// bits that i and j have in common, in place and in FP32: butterflies (a + b, a - b) of strides 1, 2, 4, 8, 16. It is
/// not normalised, so values grow by sqrt(32). Fewer than 32 values at the end stay as they are. A value that is not
/// finite makes all 32 so.
void rotate(std::span<float> values);

/// The inverse: the same, and then times 2^-5. Exact where no sum was rounded.
void rotate_back(std::span<float> values);

}  // namespace equarx::numerics
