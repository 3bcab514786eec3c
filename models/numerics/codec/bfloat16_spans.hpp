// Bulk conversion to and from bfloat16, equivalent to bfloat16.hpp element by element.
#pragma once

#include <cstdint>
#include <span>

namespace equarx::numerics {

/// Rounds every value to bfloat16, in place.
void round_to_bf16(std::span<float> values);

/// Encodes `values` into `codes`. Throws std::invalid_argument if their lengths differ.
void encode_bf16(std::span<const float> values, std::span<std::uint16_t> codes);

/// Decodes `codes` into `values`. Throws std::invalid_argument if their lengths differ.
void decode_bf16(std::span<const std::uint16_t> codes, std::span<float> values);

}  // namespace equarx::numerics
