// IEEE 754 binary16: 5 exponent bits, 10 mantissa bits, rounded to nearest, ties to even.
#pragma once

#include <bit>
#include <cstdint>

namespace equarx::numerics {

namespace detail {
inline constexpr int kFp16DroppedBits = 23 - 10;  // mantissa bits of binary32 and binary16
inline constexpr int kFp16BiasDifference = 127 - 15;
inline constexpr std::int32_t kFp16InfinityBits = 0x7c00;
inline constexpr std::int32_t kFp16QuietBit = 0x0200;
inline constexpr std::int32_t kFp16MagnitudeMask = 0x7fff;
inline constexpr int kFp16SignShift =
    16;  // from the sign bit of binary16 to the sign bit of binary32
inline constexpr float kFp16MinNormal = 0x1p-14F;
inline constexpr float kFp16MinSubnormal = 0x1p-24F;
inline constexpr float kFp16Overflow = 0x1p16F;  // value of the code of Inf if it were finite
}  // namespace detail

/// Returns the nearest binary16 bits, ties to even, with subnormals. Magnitudes of at least 65520
/// become Inf, as in IEEE rounding to nearest; a NaN becomes quiet and keeps its sign.
constexpr std::uint16_t fp16_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::int32_t>(bits >> detail::kFp16SignShift & 0x8000U);
  const auto size = static_cast<std::int32_t>(bits & 0x7fffffffU);
  constexpr auto kMinNormalBits = std::bit_cast<std::int32_t>(detail::kFp16MinNormal);
  constexpr auto kOverflowBits = std::bit_cast<std::int32_t>(detail::kFp16Overflow);
  constexpr std::int32_t kFloatInfinityBits = 0x7f800000;
  constexpr int kDropped = detail::kFp16DroppedBits;
  const std::int32_t within = size < kOverflowBits ? size : kOverflowBits;

  constexpr std::int32_t kBelowHalf = (1 << (kDropped - 1)) - 1;
  const std::int32_t normal = ((within + kBelowHalf + ((within >> kDropped) & 1)) >> kDropped) -
                              (detail::kFp16BiasDifference << (23 - kDropped));
  // The last bit of kAligned equals one subnormal step, so the addition rounds to such steps.
  constexpr float kAligned = detail::kFp16MinSubnormal * 0x1p23F;
  const std::int32_t subnormal =
      std::bit_cast<std::int32_t>(std::bit_cast<float>(within) + kAligned) -
      std::bit_cast<std::int32_t>(kAligned);
  const std::int32_t number = within < kMinNormalBits ? subnormal : normal;
  const std::int32_t nan = detail::kFp16InfinityBits | detail::kFp16QuietBit |
                           ((size >> kDropped) & (detail::kFp16QuietBit - 1));
  return static_cast<std::uint16_t>(sign | (size > kFloatInfinityBits ? nan : number));
}

/// Returns the exact value of binary16 bits.
constexpr float float_from_fp16(std::uint16_t code) {
  const std::int32_t size = code & detail::kFp16MagnitudeMask;
  const auto sign = static_cast<std::uint32_t>(code & 0x8000U) << detail::kFp16SignShift;
  const float subnormal = static_cast<float>(size) * detail::kFp16MinSubnormal;
  constexpr std::int32_t kRebias = detail::kFp16BiasDifference << 23;
  const std::int32_t moved = size << detail::kFp16DroppedBits;
  const std::int32_t normal = moved + (size >= detail::kFp16InfinityBits ? 2 * kRebias : kRebias);
  const std::int32_t number = std::bit_cast<float>(normal) < detail::kFp16MinNormal
                                  ? std::bit_cast<std::int32_t>(subnormal)
                                  : normal;
  return std::bit_cast<float>(static_cast<std::uint32_t>(number) | sign);
}

/// Rounds to the nearest binary16 value: equals float_from_fp16(fp16_from_float(value)) except for
/// NaN payloads. Works in binary32 throughout, which takes half the time of both conversions in a
/// loop.
constexpr float round_to_fp16(float value) {
  constexpr auto kMinNormalBits = std::bit_cast<std::uint32_t>(detail::kFp16MinNormal);
  constexpr auto kOverflowBits = std::bit_cast<std::uint32_t>(65520.0F);  // ties to Inf
  constexpr std::uint32_t kFloatInfinityBits = 0x7f800000;
  constexpr int kDropped = detail::kFp16DroppedBits;
  constexpr std::uint32_t kBelowHalf = (1U << (kDropped - 1)) - 1;
  // The last bit of kAligned equals one subnormal step, so the addition rounds to such steps.
  constexpr float kAligned = detail::kFp16MinSubnormal * 0x1p23F;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t size = bits & 0x7fffffffU;
  const std::uint32_t normal =
      (size + kBelowHalf + (size >> kDropped & 1U)) & ~((1U << kDropped) - 1U);
  const auto subnormal =
      std::bit_cast<std::uint32_t>((std::bit_cast<float>(size) + kAligned) - kAligned);
  const std::uint32_t number = size < kMinNormalBits ? subnormal : normal;
  const std::uint32_t finite = size < kOverflowBits ? number : kFloatInfinityBits;
  return std::bit_cast<float>((size > kFloatInfinityBits ? size : finite) | (bits & 0x80000000U));
}

}  // namespace equarx::numerics
