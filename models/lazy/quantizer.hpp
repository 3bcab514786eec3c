// LAQ's quantizer: a vector in a few bits per element, relative to the last one that was sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace equarx::lazy {

/// Most bits of an element.
inline constexpr std::uint32_t kMostBits = 24;

/// Quantizes `values` on a grid of 2^bits points around the `known` vector, as far to both sides as
/// their largest difference R: known - R + 2 d floor((value - known + R + d) / (2 d)) with
/// d = R / (2^bits - 1) (Sun et al., arXiv 1909.07588, section 2.1; sunjunaimer/LAQ, quantd()). Equal
/// vectors stay as they are. Returns the squared norm of the error.
/// @throws std::invalid_argument if sizes differ, bits are not 1 to kMostBits, or a value is not
/// finite
double quantize(std::span<const double> values, std::span<const double> known, std::uint32_t bits,
                std::span<double> quantized);

/// Bits of a message of `elements`: FP32 without `bits`, else R in FP32 and the codes.
std::uint64_t message_bits(std::size_t elements, std::optional<std::uint32_t> bits);

}  // namespace equarx::lazy
