// Whole spans of bfloat16, as bfloat16.hpp does it one by one.
#pragma once

#include <cstdint>
#include <span>

namespace equarx::numerics {

/// Rounds every value to bfloat16, in place.
void round_to_bf16(std::span<float> values);

/// Encodes `values` into `codes`, both of the same length; std::invalid_argument otherwise.
void encode_bf16(std::span<const float> values, std::span<std::uint16_t> codes);

/// Decodes `codes` into `values`, both of the same length; std::invalid_argument otherwise.
void decode_bf16(std::span<const std::uint16_t> codes, std::span<float> values);

}  // namespace equarx::numerics
