// bfloat16: the upper half of an IEEE binary32, rounded to nearest, ties to even.
// There is no rounding-mode argument on purpose: g++ 12.2 miscompiles a truncation that is chosen
// at run time. A further mode would be another function.
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

/// Nearest bfloat16 bits, ties to even. A magnitude of at least 2^127 (2 - 2^-8) becomes Inf, as
/// round-to-nearest demands; a NaN stays a NaN of its sign, made quiet.
constexpr std::uint16_t bf16_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t upper = bits >> detail::kBf16DroppedBits;
  const std::uint32_t rounded =
      (bits + detail::kBf16BelowHalf + (upper & 1U)) >> detail::kBf16DroppedBits;
  const bool nan =
      static_cast<std::int32_t>(bits & detail::kFloatMagnitudeMask) > detail::kFloatInfinityBits;
  return static_cast<std::uint16_t>(nan ? (upper | detail::kBf16QuietBit) : rounded);
}

/// The value of bfloat16 bits, exact.
constexpr float float_from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << detail::kBf16DroppedBits);
}

}  // namespace equarx::numerics
