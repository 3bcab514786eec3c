// Floating-point formats of at most 8 bits, described at compile time: 1 sign bit, kExponentBits,
// kMantissaBits. Definitions: OCP 8-bit Floating Point Specification (OFP8), revision 1.0.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace equarx::numerics {

/// What the codes with the largest exponent mean.
enum class SpecialValues : std::uint8_t {
  ieee,     ///< Inf and NaN as in IEEE 754: the largest exponent holds no finite value
  only_nan  ///< one NaN per sign, all bits set, and no Inf ("FN")
};

/// Encodes and decodes one format. Encoding rounds to nearest, ties to even, with subnormals, and
/// - a finite value beyond the largest finite one saturates to it;
/// - Inf stays Inf where the format has one, and becomes NaN where not, so that a value which is
///   not finite never turns into one that is;
/// - NaN becomes the quiet NaN of its sign.
template <int kExponentBits, int kMantissaBits, SpecialValues kSpecials>
struct Minifloat {
  static_assert(1 + kExponentBits + kMantissaBits <= 8 && kExponentBits >= 2 && kMantissaBits >= 1);

  using Code = std::uint8_t;

  static constexpr int kMagnitudeBits = kExponentBits + kMantissaBits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr std::int32_t kSignCode = 1 << kMagnitudeBits;
  static constexpr std::int32_t kInfCode =  // where only_nan: the code of NaN, see above
      kSpecials == SpecialValues::ieee ? ((1 << kExponentBits) - 1) << kMantissaBits
                                       : kSignCode - 1;
  static constexpr std::int32_t kLargestCode = kInfCode - 1;
  static constexpr std::int32_t kNanCode =
      kSpecials == SpecialValues::ieee ? kInfCode | (1 << (kMantissaBits - 1)) : kInfCode;

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
    return table;
  }

 public:
  static constexpr int kMinExponent = 1 - kBias;  ///< of the smallest normal value
  static constexpr float kMaxFinite = magnitude(kLargestCode);
  static constexpr std::array<float, 2 * kSignCode> kDecoded = decoded_table();

  static constexpr float decode(Code code) { return kDecoded[code & (2 * kSignCode - 1)]; }

  static constexpr Code encode(float value) {
    const auto bits = std::bit_cast<std::int32_t>(value);
    const std::int32_t sign = bits < 0 ? kSignCode : 0;
    const std::int32_t size = bits & std::numeric_limits<std::int32_t>::max();
    constexpr auto kMaxFiniteBits = std::bit_cast<std::int32_t>(kMaxFinite);
    constexpr auto kMinNormalBits = std::bit_cast<std::int32_t>(power_of_two(kMinExponent));
    const std::int32_t saturated = size > kMaxFiniteBits ? kMaxFiniteBits : size;

    constexpr std::int32_t kBelowHalf = (1 << (kShift - 1)) - 1;
    const std::int32_t normal = ((saturated + kBelowHalf + ((saturated >> kShift) & 1)) >> kShift) -
                                ((kFloatBias - kBias) << kMantissaBits);

    // The last bit of kAligned is worth one subnormal step, so that the addition itself rounds.
    constexpr float kAligned = power_of_two(kFloatMantissaBits + kMinExponent - kMantissaBits);
    const std::int32_t subnormal =
        std::bit_cast<std::int32_t>(std::bit_cast<float>(saturated) + kAligned) -
        std::bit_cast<std::int32_t>(kAligned);

    const std::int32_t finite = saturated < kMinNormalBits ? subnormal : normal;
    const std::int32_t special = size > kFloatInfBits ? kNanCode : kInfCode;
    return static_cast<Code>(sign | (size >= kFloatInfBits ? special : finite));
  }
};

/// FP8 E4M3FN: largest 448, smallest subnormal 2^-9, NaN 0x7F and 0xFF, no Inf.
using Fp8E4m3 = Minifloat<4, 3, SpecialValues::only_nan>;

/// FP8 E5M2: largest 57344, smallest subnormal 2^-16, Inf 0x7C, NaN encoded as 0x7E.
using Fp8E5m2 = Minifloat<5, 2, SpecialValues::ieee>;

}  // namespace equarx::numerics
