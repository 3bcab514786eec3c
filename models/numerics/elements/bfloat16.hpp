// bfloat16: the upper half of an IEEE binary32, rounded to nearest, ties to even.
// Deliberately without a rounding-mode argument: g++ 12.2 miscompiles a truncation selected at run
// time. A further mode would be a separate function.
#pragma once

#include <bit>
#include <cstdint>

namespace equarx::numerics {

namespace detail {
inline constexpr int kBf16DroppedBits = 16;
inline constexpr std::uint32_t kBf16BelowHalf = (1U << (kBf16DroppedBits - 1)) - 1;
inline constexpr std::uint32_t kFloatMagnitudeMask = 0x7fffffffU;
inline constexpr std::int32_t kFloatInfinityBits = 0x7f800000;
inline constexpr std::uint16_t kBf16QuietBit = 0x0040;
}  // namespace detail

/// Returns the nearest bfloat16 bits, ties to even. Magnitudes of at least 2^127 (2 - 2^-8) become
/// Inf, as in IEEE rounding to nearest; a NaN becomes quiet and keeps its sign.
constexpr std::uint16_t bf16_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t upper = bits >> detail::kBf16DroppedBits;
  const std::uint32_t rounded =
      (bits + detail::kBf16BelowHalf + (upper & 1U)) >> detail::kBf16DroppedBits;
  const bool nan =
      static_cast<std::int32_t>(bits & detail::kFloatMagnitudeMask) > detail::kFloatInfinityBits;
  return static_cast<std::uint16_t>(nan ? (upper | detail::kBf16QuietBit) : rounded);
}

/// Returns the exact value of bfloat16 bits.
constexpr float float_from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << detail::kBf16DroppedBits);
}

}  // namespace equarx::numerics
