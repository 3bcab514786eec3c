// One type per element format, with what a loop over elements needs at compile time:
//   Code           the stored type
//   kMaxFinite     what a group's abs-max is scaled to
//   kClipThreshold the smallest magnitude that the limited range, not the rounding, changes
//   encode, decode one element, relative to its scale
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "models/numerics/bfloat16.hpp"
#include "models/numerics/minifloat.hpp"

namespace equarx::numerics {

struct Fp32Element {
  using Code = float;
  static constexpr float kMaxFinite = std::numeric_limits<float>::max();
  static constexpr float kClipThreshold = std::numeric_limits<float>::infinity();
  static constexpr Code encode(float value) { return value; }
  static constexpr float decode(Code code) { return code; }
};

struct Bf16Element {
  using Code = std::uint16_t;
  static constexpr float kMaxFinite = 0x1.FEp127F;
  static constexpr float kClipThreshold = 0x1.FFp127F;  ///< rounds to Inf
  static constexpr Code encode(float value) { return bf16_from_float(value); }
  static constexpr float decode(Code code) { return float_from_bf16(code); }
};

/// Symmetric: -128 is never used. NaN has no code and becomes 0; its group's scale, if any, carries it.
struct Int8Element {
  using Code = std::int8_t;
  static constexpr float kMaxFinite = 127.0F;
  static constexpr float kClipThreshold = 127.5F;

  static constexpr Code encode(float value) {
    const float number = value == value ? value : 0.0F;
    const float below = number < kMaxFinite ? number : kMaxFinite;
    const float clamped = below > -kMaxFinite ? below : -kMaxFinite;
    // At 1.5 x 2^23 the last mantissa bit is worth 1: the addition rounds to nearest even, and the
    // lowest byte is the integer in two's complement.
    constexpr float kAligned = 0x1.8p23F;
    return static_cast<Code>(std::bit_cast<std::int32_t>(clamped + kAligned) -
                             std::bit_cast<std::int32_t>(kAligned));
  }
  static constexpr float decode(Code code) { return static_cast<float>(code); }
};

struct Fp8E4m3Element : Fp8E4m3 {
  /// Just above 464, half way from 448 to 480, which ties to 448.
  static constexpr float kClipThreshold = 0x1.D00002p8F;
};

struct Fp8E5m2Element : Fp8E5m2 {
  /// Half way from 57344 to 65536, which ties to 65536.
  static constexpr float kClipThreshold = 0x1.Ep15F;
};

}  // namespace equarx::numerics
