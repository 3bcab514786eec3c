// Sign-and-exponent codes and their stochastic sum: Global-QSGD's "exponential dithering".
//
// Source: sands-lab/global-qsgd (MIT), gqsgd_cuda.cu, the exponential_dithering kernels. A code is
// a byte: 128 for the sign, plus E from 1 to 127 for the magnitude 2^-E; E = 0 is zero. In memory,
// codes are held as their values in FP32, which is exact: code 128 is -0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/numerics/kernels/quantize_counts.hpp"
#include "models/numerics/random/rounding_key.hpp"

namespace equarx::numerics::exponents {

/// Largest magnitude, the value of code 1.
inline constexpr float kLargest = 0.5F;

/// Returns the value of a code.
float value_of(std::uint8_t code);

/// Inverse of value_of(). Other values get the code of the next lower power of two in magnitude, or
/// of zero if there is none.
std::uint8_t code_of(float value);

/// Rounds each value in place to one of the two neighbouring powers of two, with probabilities that
/// preserve the mean. Magnitudes below 2^-127 become 2^-127 with their sign, magnitudes above 1/2
/// become 1/2; 0 and NaN become 0.
void round(std::span<float> values, const RoundingKey& key);

/// Rounds the sum of two codes to one of the two neighbouring codes, with probabilities that
/// preserve the mean. Let the magnitudes differ by a factor of 2^d. With equal signs, the larger
/// one is doubled with probability 2^-d; with opposite signs, it is halved with probability
/// 2^-(d - 1), and the sum is 0 if d = 0. As in the reference code, the random number has 24 bits,
/// so no probability lies between 0 and 2^-24, and it is 0 from d = 126.
///
/// A doubled 1/2 has no code and becomes 0, as its byte does. The reference headroom, a factor of
/// 2 N, prevents this in a tree of N ranks, a power of two, in which a term is added to others at
/// most log2 N times; on a ring it may happen.
/// @param word random bits; only the upper 24 are used
std::uint8_t sum_of(std::uint8_t one, std::uint8_t other, std::uint32_t word);

/// Adds the codes `terms` to `sums` in place by sum_of(). Returns the number of doubled 1/2 as
/// clipped. Both spans have the same length.
QuantizeCounts add(std::span<const std::byte> terms, std::span<float> sums, const RoundingKey& key);

/// Applies code_of() to every value. Both spans have the same length.
void store(std::span<const float> values, std::span<std::byte> codes);

/// Applies value_of() to every code. Both spans have the same length.
void load(std::span<const std::byte> codes, std::span<float> values);

}  // namespace equarx::numerics::exponents
