// One type per element format, with the compile-time interface of loops over elements:
//   Code               stored type; formats of fewer than 8 bits are packed later
//   kInteger           true if codes are integers
//   kLargestCode, kCodesPerUnit  of integers: the largest code, and codes per unit of value
//   kMaxFinite         value that the amax of a group is scaled to
//   kClipThreshold     smallest magnitude changed by the limited range rather than by rounding
//   encode, decode     one element, relative to its scale
//   encode_stochastic  with 32 random bits, for formats that support stochastic rounding
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "models/formats/block_format.hpp"
#include "models/numerics/elements/bfloat16.hpp"
#include "models/numerics/elements/float16.hpp"
#include "models/numerics/elements/minifloat.hpp"
#include "models/numerics/random/rounding_key.hpp"

namespace equarx::numerics {

/// float32, unchanged.
struct Fp32Element {
  using Code = float;
  static constexpr bool kInteger = false;
  static constexpr float kMaxFinite = std::numeric_limits<float>::max();
  static constexpr float kClipThreshold = std::numeric_limits<float>::infinity();
  static constexpr Code encode(float value) { return value; }
  static constexpr float decode(Code code) { return code; }
};

/// bfloat16: float32 without its 16 lowest bits.
struct Bf16Element {
  using Code = std::uint16_t;
  static constexpr bool kInteger = false;
  static constexpr float kMaxFinite = 0x1.FEp127F;
  static constexpr float kClipThreshold = 0x1.FFp127F;  ///< rounds to Inf
  static constexpr Code encode(float value) { return bf16_from_float(value); }
  static constexpr float decode(Code code) { return float_from_bf16(code); }
};

/// IEEE half precision.
struct Fp16Element {
  using Code = std::uint16_t;
  static constexpr bool kInteger = false;
  static constexpr float kMaxFinite = 65504.0F;
  static constexpr float kClipThreshold = 65520.0F;  ///< rounds to Inf
  static constexpr Code encode(float value) { return fp16_from_float(value); }
  static constexpr float decode(Code code) { return float_from_fp16(code); }
};

/// Symmetric integers: the lowest two's complement code is never used. NaN has no code and becomes
/// 0; the scale of its group, if any, becomes NaN instead.
template <int kLargest, int kUnit>
struct IntegerElement {
  using Code = std::int8_t;
  static constexpr bool kInteger = true;
  static constexpr int kMagnitudeBits = std::bit_width(static_cast<unsigned>(kLargest));
  static constexpr float kLargestCode = kLargest;
  static constexpr float kCodesPerUnit = kUnit;  ///< a power of two
  static constexpr float kMaxFinite = kLargestCode / kCodesPerUnit;
  static constexpr float kClipThreshold = (kLargestCode + 0.5F) / kCodesPerUnit;

  static constexpr Code encode(float value) {
    const float number = value == value ? value * kCodesPerUnit : 0.0F;
    const float below = number < kLargestCode ? number : kLargestCode;
    const float clamped = below > -kLargestCode ? below : -kLargestCode;
    // At 1.5 x 2^23 the last mantissa bit equals 1: the addition rounds to nearest even, and the
    // lowest byte is the integer in two's complement.
    constexpr float kAligned = 0x1.8p23F;
    return static_cast<Code>(std::bit_cast<std::int32_t>(clamped + kAligned) -
                             std::bit_cast<std::int32_t>(kAligned));
  }
  static constexpr Code encode_stochastic(float value, std::uint32_t word) {
    const float number = value == value ? value * kCodesPerUnit : 0.0F;
    const float size = number < 0.0F ? -number : number;
    const float clamped = size < kLargestCode ? size : kLargestCode;
    const auto below = static_cast<std::int32_t>(clamped);
    const float rest = clamped - static_cast<float>(below);
    const std::int32_t code = below + (unit_of(word) < rest ? 1 : 0);
    return static_cast<Code>(number < 0.0F ? -code : code);
  }
  static constexpr float decode(Code code) {
    return static_cast<float>(code) * (1.0F / kCodesPerUnit);
  }
};

/// int8 in units of its scale.
using Int8Element = IntegerElement<kInt8LargestCode, 1>;
/// int6 in units of its scale.
using Int6Element = IntegerElement<kInt6LargestCode, 1>;
/// int4 in units of its scale.
using Int4Element = IntegerElement<kInt4LargestCode, 1>;
/// INT8 of OCP MX: in units of 2^-6.
using MxInt8Element = IntegerElement<kInt8LargestCode, 64>;

// Clip thresholds lie half way between the largest finite value and its successor if the format
// continued. The successor has an even mantissa, so ties round up to it; except for 448, itself
// even.
/// FP8 of OCP with 4 bits of exponent: values up to 448.
struct Fp8E4m3Element : Fp8E4m3 {
  static constexpr bool kInteger = false;
  static constexpr float kClipThreshold = 0x1.D00002p8F;  ///< just above 464
};
/// FP8 of OCP with 5 bits of exponent: values up to 57344.
struct Fp8E5m2Element : Fp8E5m2 {
  static constexpr bool kInteger = false;
  static constexpr float kClipThreshold = 61440.0F;
};
/// FP8 without -0 and with 4 bits of exponent: values up to 240.
struct Fp8E4m3FnuzElement : Fp8E4m3Fnuz {
  static constexpr bool kInteger = false;
  static constexpr float kClipThreshold = 248.0F;
};
/// FP8 without -0 and with 5 bits of exponent: values up to 57344.
struct Fp8E5m2FnuzElement : Fp8E5m2Fnuz {
  static constexpr bool kInteger = false;
  static constexpr float kClipThreshold = 61440.0F;
};
/// FP6 of OCP MX with 2 bits of exponent: values up to 7.5.
struct Fp6E2m3Element : Fp6E2m3 {
  static constexpr bool kInteger = false;
  static constexpr float kClipThreshold = 7.75F;
};
/// FP6 of OCP MX with 3 bits of exponent: values up to 28.
struct Fp6E3m2Element : Fp6E3m2 {
  static constexpr bool kInteger = false;
  static constexpr float kClipThreshold = 30.0F;
};
/// FP4 of OCP MX: values up to 6.
struct Fp4E2m1Element : Fp4E2m1 {
  static constexpr bool kInteger = false;
  static constexpr float kClipThreshold = 7.0F;
};

/// Calls act with the element format as a type.
/// @throws std::logic_error for exp8, which has no kernels (see
/// models/numerics/codec/exponents.hpp)
template <class Act>
void with_element(ElementFormat format, Act act) {
  switch (format) {
    case ElementFormat::fp32: return act(Fp32Element{});
    case ElementFormat::bf16: return act(Bf16Element{});
    case ElementFormat::int8: return act(Int8Element{});
    case ElementFormat::fp8_e4m3: return act(Fp8E4m3Element{});
    case ElementFormat::fp8_e5m2: return act(Fp8E5m2Element{});
    case ElementFormat::fp8_e4m3fnuz: return act(Fp8E4m3FnuzElement{});
    case ElementFormat::fp8_e5m2fnuz: return act(Fp8E5m2FnuzElement{});
    case ElementFormat::fp16: return act(Fp16Element{});
    case ElementFormat::int6: return act(Int6Element{});
    case ElementFormat::int4: return act(Int4Element{});
    case ElementFormat::fp6_e2m3: return act(Fp6E2m3Element{});
    case ElementFormat::fp6_e3m2: return act(Fp6E3m2Element{});
    case ElementFormat::fp4_e2m1: return act(Fp4E2m1Element{});
    case ElementFormat::mxint8: return act(MxInt8Element{});
    case ElementFormat::exp8: break;
  }
  throw std::logic_error("with_element: exp8 has no kernels");
}

}  // namespace equarx::numerics
