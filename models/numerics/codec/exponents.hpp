// Codes that are a sign and an exponent, and their stochastic sum: Global-QSGD's "exponential dithering".
//
// sands-lab/global-qsgd (MIT), gqsgd_cuda.cu, the exponential_dithering kernels. A code is a byte: 128 for a sign, and
// E from 1 to 127 for the magnitude 2^-E; E = 0 is zero. In memory a code is the number that it stands for, in FP32,
// which is exact: code 128 is -0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/numerics/kernels/quantize_counts.hpp"
#include "models/numerics/random/rounding_key.hpp"

namespace equarx::numerics::exponents {

/// Of code 1.
inline constexpr float kLargest = 0.5F;

/// What a code stands for.
float value_of(std::uint8_t code);

/// The code of a value of value_of(). Of others, that of the power of two below the magnitude, if there is one, else 0.
std::uint8_t code_of(float value);

/// To one of the two powers of two beside a value, in place: with the probabilities that make the mean right. What is
/// nearer to 0 than 2^-127 becomes that, with its sign; 0 and NaN become 0, and magnitudes from 1/2 up become 1/2.
void round(std::span<float> values, const RoundingKey& key);

/// One of the two codes beside the sum of two, with the probabilities that make the mean right. With d how many times
/// the smaller magnitude has to be doubled to be the larger: of the same sign the larger one is doubled with
/// probability 2^-d; of opposite signs it is halved with 2^-(d - 1), and is 0 for d = 0. Theirs: the random number has
/// 24 bits, so no probability is between 0 and 2^-24, and from d = 126 on it is 0.
///
/// A doubled 1/2 has no code, and becomes 0, as its byte does. Their headroom, a factor of 2 N, excludes it in a tree
/// of N ranks, a power of two, where no term is added to others more than log2 N times; on a ring it may happen.
/// @param word random, of which the upper 24 bits count
std::uint8_t sum_of(std::uint8_t one, std::uint8_t other, std::uint32_t word);

/// sum_of() the code of each value and the one received, in place. Returns how many are a doubled 1/2, as clipped.
/// `terms` is as long.
QuantizeCounts add(std::span<const std::byte> terms, std::span<float> sums, const RoundingKey& key);

/// code_of() every value. `codes` is as long.
void store(std::span<const float> values, std::span<std::byte> codes);

/// value_of() every code. `values` is as long.
void load(std::span<const std::byte> codes, std::span<float> values);

}  // namespace equarx::numerics::exponents
