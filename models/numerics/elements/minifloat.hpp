// Floating-point formats of at most 8 bits, described at compile time: 1 sign bit, kExponentBits,
// kMantissaBits. Sources: OCP 8-bit Floating Point Specification (OFP8), revision 1.0; OCP
// Microscaling Formats (MX) Specification, version 1.0; for FNUZ, Noune, Jones, Justus, Masters and
// Luschi, "8-bit Numerical Formats for Deep Neural Networks", arXiv 2206.02915.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "models/numerics/random/rounding_key.hpp"

namespace equarx::numerics {

/// Encoding of non-finite values.
enum class SpecialValues : std::uint8_t {
  ieee,           ///< Inf and NaN as in IEEE 754: the largest exponent has no finite values
  only_nan,       ///< one NaN per sign, all bits set, and no Inf ("FN")
  unsigned_zero,  ///< one NaN in place of -0, and no Inf ("FNUZ"); the bias is larger by 1
  none            ///< every code is a finite value
};

/// Codec of one format. Encoding rounds to nearest, ties to even, with subnormals, and
/// - saturates finite values at the largest finite one;
/// - keeps Inf if the format has it, and turns it into NaN otherwise, so that a non-finite value
///   never becomes finite;
/// - turns NaN into the quiet NaN of its sign, or into the only NaN;
/// - saturates Inf and turns NaN into zero if the format has neither;
/// - keeps the sign of values rounded to zero, if the format has -0.
template <int kExponentBits, int kMantissaBits, SpecialValues kSpecials>
struct Minifloat {
  static_assert(1 + kExponentBits + kMantissaBits <= 8 && kExponentBits >= 2 && kMantissaBits >= 1);

  using Code = std::uint8_t;

  static constexpr int kCodeMantissaBits = kMantissaBits;
  static constexpr SpecialValues kSpecialValues = kSpecials;
  static constexpr int kMagnitudeBits = kExponentBits + kMantissaBits;
  static constexpr bool kHasMinusZero = kSpecials != SpecialValues::unsigned_zero;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - (kHasMinusZero ? 1 : 0);
  static constexpr std::int32_t kSignCode = 1 << kMagnitudeBits;
  static constexpr std::int32_t kLargestCode =
      kSpecials == SpecialValues::ieee       ? (((1 << kExponentBits) - 1) << kMantissaBits) - 1
      : kSpecials == SpecialValues::only_nan ? kSignCode - 2
                                             : kSignCode - 1;
  static constexpr std::int32_t kInfCode =  // result of encoding Inf
      kSpecials == SpecialValues::none ? kLargestCode : kLargestCode + 1;
  static constexpr std::int32_t kNanCode = kSpecials == SpecialValues::ieee
                                               ? kInfCode | (1 << (kMantissaBits - 1))
                                           : kSpecials == SpecialValues::none ? 0
                                                                              : kInfCode;

 private:
  static constexpr int kFloatMantissaBits = std::numeric_limits<float>::digits - 1;
  static constexpr int kFloatBias = std::numeric_limits<float>::max_exponent - 1;
  static constexpr std::int32_t kFloatInfBits = 0x7f800000;
  static constexpr int kShift = kFloatMantissaBits - kMantissaBits;

  static constexpr float power_of_two(int exponent) {
    return std::bit_cast<float>((exponent + kFloatBias) << kFloatMantissaBits);
  }

  static constexpr float magnitude(std::int32_t code) {
    if (code > kLargestCode) {
      const bool infinite = kSpecials == SpecialValues::ieee && code == kInfCode;
      return infinite ? std::numeric_limits<float>::infinity()
                      : std::numeric_limits<float>::quiet_NaN();
    }
    const std::int32_t exponent = code >> kMantissaBits;
    const std::int32_t mantissa = code & ((1 << kMantissaBits) - 1);
    if (exponent == 0)
      return static_cast<float>(mantissa) * power_of_two(kMinExponent - kMantissaBits);
    return power_of_two(exponent - kBias) *
           (1.0F + static_cast<float>(mantissa) * power_of_two(-kMantissaBits));
  }

  static constexpr auto decoded_table() {
    std::array<float, 2 * kSignCode> table{};
    for (std::int32_t code = 0; code < kSignCode; ++code) {
      const float value = magnitude(code);
      table[static_cast<std::size_t>(code)] = value;
      table[static_cast<std::size_t>(code | kSignCode)] = -value;
    }
    if (!kHasMinusZero)
      table[static_cast<std::size_t>(kNanCode)] = std::numeric_limits<float>::quiet_NaN();
    return table;
  }

 public:
  static constexpr int kMinExponent = 1 - kBias;  ///< exponent of the smallest normal value
  static constexpr float kMaxFinite = magnitude(kLargestCode);
  static constexpr std::array<float, 2 * kSignCode> kDecoded = decoded_table();

 private:
  /// Adds the sign bit of the float with these bits.
  static constexpr Code with_sign(std::int32_t code, std::int32_t float_bits) {
    const bool negative = float_bits < 0 && (kHasMinusZero || code != 0);
    return static_cast<Code>(code | (negative ? kSignCode : 0));
  }

 public:
  static constexpr float decode(Code code) { return kDecoded[code & (2 * kSignCode - 1)]; }

  static constexpr Code encode(float value) {
    const auto bits = std::bit_cast<std::int32_t>(value);
    const std::int32_t size = bits & std::numeric_limits<std::int32_t>::max();
    constexpr auto kMaxFiniteBits = std::bit_cast<std::int32_t>(kMaxFinite);
    constexpr auto kMinNormalBits = std::bit_cast<std::int32_t>(power_of_two(kMinExponent));
    const std::int32_t saturated = size > kMaxFiniteBits ? kMaxFiniteBits : size;

    constexpr std::int32_t kBelowHalf = (1 << (kShift - 1)) - 1;
    const std::int32_t normal = ((saturated + kBelowHalf + ((saturated >> kShift) & 1)) >> kShift) -
                                ((kFloatBias - kBias) << kMantissaBits);

    // The last bit of kAligned equals one subnormal step, so the addition rounds to such steps.
    constexpr float kAligned = power_of_two(kFloatMantissaBits + kMinExponent - kMantissaBits);
    const std::int32_t subnormal =
        std::bit_cast<std::int32_t>(std::bit_cast<float>(saturated) + kAligned) -
        std::bit_cast<std::int32_t>(kAligned);

    const std::int32_t finite = saturated < kMinNormalBits ? subnormal : normal;
    const std::int32_t special = size > kFloatInfBits ? kNanCode : kInfCode;
    return with_sign(size >= kFloatInfBits ? special : finite, bits);
  }

  /// Like encode(), but rounds stochastically: away from zero with a probability equal to the
  /// distance, in steps, from the code towards zero. `word` holds the random bits.
  static constexpr Code encode_stochastic(float value, std::uint32_t word) {
    const auto bits = std::bit_cast<std::int32_t>(value);
    const std::int32_t size = bits & std::numeric_limits<std::int32_t>::max();
    constexpr auto kMaxFiniteBits = std::bit_cast<std::int32_t>(kMaxFinite);
    constexpr auto kMinNormalBits = std::bit_cast<std::int32_t>(power_of_two(kMinExponent));
    if (size >= kFloatInfBits) return encode(value);
    const std::int32_t saturated = size > kMaxFiniteBits ? kMaxFiniteBits : size;
    const bool normal = saturated >= kMinNormalBits;
    // Splits the magnitude into whole steps and the fraction of a step.
    constexpr float kStep = power_of_two(kMinExponent - kMantissaBits);
    constexpr std::int32_t kRestMask = (1 << kShift) - 1;
    const float steps = normal ? 0.0F : std::bit_cast<float>(saturated) * (1.0F / kStep);
    const auto whole_steps = static_cast<std::int32_t>(steps);
    const std::int32_t below =
        normal ? (saturated >> kShift) - ((kFloatBias - kBias) << kMantissaBits) : whole_steps;
    const float rest = normal ? static_cast<float>(saturated & kRestMask) * power_of_two(-kShift)
                              : steps - static_cast<float>(whole_steps);
    return with_sign(below + (unit_of(word) < rest ? 1 : 0), bits);
  }
};

/// FP8 E4M3FN: largest 448, smallest subnormal 2^-9, NaN 0x7F and 0xFF, no Inf.
using Fp8E4m3 = Minifloat<4, 3, SpecialValues::only_nan>;

/// FP8 E5M2: largest 57344, smallest subnormal 2^-16, Inf 0x7C, NaN encoded as 0x7E.
using Fp8E5m2 = Minifloat<5, 2, SpecialValues::ieee>;

/// FP8 E4M3FNUZ: bias 8, largest 240, smallest subnormal 2^-10, NaN 0x80, no Inf and no -0.
using Fp8E4m3Fnuz = Minifloat<4, 3, SpecialValues::unsigned_zero>;

/// FP8 E5M2FNUZ: bias 16, largest 57344, smallest subnormal 2^-17, NaN 0x80, no Inf and no -0.
using Fp8E5m2Fnuz = Minifloat<5, 2, SpecialValues::unsigned_zero>;

/// FP6 E2M3: largest 7.5, smallest subnormal 2^-3.
using Fp6E2m3 = Minifloat<2, 3, SpecialValues::none>;

/// FP6 E3M2: largest 28, smallest subnormal 2^-4.
using Fp6E3m2 = Minifloat<3, 2, SpecialValues::none>;

/// FP4 E2M1: 0, 0.5, 1, 1.5, 2, 3, 4, 6.
using Fp4E2m1 = Minifloat<2, 1, SpecialValues::none>;

}  // namespace equarx::numerics
