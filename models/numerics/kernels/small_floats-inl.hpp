// Vectorised floating-point codes of 4 to 16 bits, equivalent to elements/minifloat.hpp and
// float16.hpp. Uses integer arithmetic, and additions that are exact or rounded as in IEEE 754.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_SMALL_FLOATS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_SMALL_FLOATS_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_SMALL_FLOATS_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_SMALL_FLOATS_INL_HPP_
#endif

#include <bit>
#include <cstdint>
#include <limits>

#include <hwy/highway.h>

#include "models/numerics/elements/element_codecs.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr int kFloatMantissaBits = std::numeric_limits<float>::digits - 1;
constexpr int kFloatBias = std::numeric_limits<float>::max_exponent - 1;
constexpr std::int32_t kInfinityBits = 0x7f800000;
constexpr std::int32_t kQuietNanBits = 0x7fc00000;

// Format properties used below.
template <class Element>
struct SmallFloat {
  static constexpr int kMantissaBits = Element::kCodeMantissaBits;
  static constexpr int kMagnitudeBits = Element::kMagnitudeBits;
  static constexpr int kMinExponent = Element::kMinExponent;
  static constexpr SpecialValues kSpecials = Element::kSpecialValues;
  static constexpr bool kHasMinusZero = Element::kHasMinusZero;
  static constexpr std::int32_t kInfCode = Element::kInfCode;
  static constexpr float kLargest = Element::kMaxFinite;  // larger magnitudes saturate to its code
};
template <>
struct SmallFloat<Fp16Element> {
  static constexpr int kMantissaBits = kFloatMantissaBits - detail::kFp16DroppedBits;
  static constexpr int kMagnitudeBits = 15;
  static constexpr int kMinExponent = -14;
  static constexpr SpecialValues kSpecials = SpecialValues::ieee;
  static constexpr bool kHasMinusZero = true;
  static constexpr std::int32_t kInfCode = detail::kFp16InfinityBits;
  static constexpr float kLargest = detail::kFp16Overflow;  // encodes as Inf
};

constexpr std::int32_t power_of_two_bits(int exponent) {
  return (exponent + kFloatBias) << kFloatMantissaBits;
}

HWY_INLINE hn::Vec<Ints> ints(std::int32_t value) { return hn::Set(Ints(), value); }

// Returns the code of a finite magnitude of at most Format::kLargest.
//
// Adding a power of two whose last mantissa bit equals one step of the magnitude's binade rounds it
// to whole steps, ties to even. The mantissa of the sum is the number of steps; the code adds the
// steps of all lower binades, where subnormals are the lower half of the first. The exponent of the
// sum remains as garbage above the code.
template <class Format>
HWY_INLINE hn::Vec<Ints> rounded_code(hn::Vec<Ints> size) {
  constexpr int kDropped = kFloatMantissaBits - Format::kMantissaBits;
  const auto least = ints(power_of_two_bits(Format::kMinExponent));
  const auto binade = hn::Max(hn::And(size, ints(kInfinityBits)), least);
  const auto aligned = hn::Add(binade, ints(kDropped << kFloatMantissaBits));
  const auto sum = hn::Add(hn::BitCast(Floats(), size), hn::BitCast(Floats(), aligned));
  return hn::Add(hn::BitCast(Ints(), sum), hn::ShiftRight<kDropped>(hn::Sub(binade, least)));
}

// Replaces the codes of non-finite values. For formats without NaN, values must not be NaN.
template <class Element, bool kMayBeNan = true>
HWY_INLINE hn::Vec<Ints> with_specials(hn::Vec<Ints> code, hn::Vec<Ints> size) {
  using Format = SmallFloat<Element>;
  // Integers are compared by Gt only.
  const auto infinity = ints(kInfinityBits);
  const auto below_infinity = ints(kInfinityBits - 1);
  if constexpr (std::is_same_v<Element, Fp16Element>) {
    const auto payload =
        hn::And(hn::ShiftRight<detail::kFp16DroppedBits>(size), ints(detail::kFp16QuietBit - 1));
    const auto nan = hn::Or(payload, ints(Format::kInfCode | detail::kFp16QuietBit));
    return hn::IfThenElse(hn::Gt(size, infinity), nan, code);
  } else if constexpr (Format::kSpecials == SpecialValues::only_nan ||
                       Format::kSpecials == SpecialValues::unsigned_zero) {
    return hn::IfThenElse(hn::Gt(size, below_infinity), ints(Element::kNanCode), code);
  } else if constexpr (Format::kSpecials == SpecialValues::ieee) {
    code = hn::IfThenElse(hn::Gt(size, below_infinity), ints(Format::kInfCode), code);
    if constexpr (!kMayBeNan) return code;
    return hn::IfThenElse(hn::Gt(size, infinity), ints(Element::kNanCode), code);
  } else {
    return code;
  }
}

// Adds the signs of the ratios. Bits above a code are garbage.
template <class Element>
HWY_INLINE hn::Vec<Words> with_signs(hn::Vec<Ints> code, Vector ratios) {
  using Format = SmallFloat<Element>;
  constexpr std::int32_t kSign = 1 << Format::kMagnitudeBits;
  const auto moved = hn::ShiftRight<31 - Format::kMagnitudeBits>(hn::BitCast(Words(), ratios));
  auto sign = hn::BitCast(Ints(), hn::And(moved, hn::Set(Words(), kSign)));
  if constexpr (!Format::kHasMinusZero) {  // the code of NaN is the sign bit alone
    const auto size = hn::And(code, ints(kSign - 1));
    sign = hn::IfThenElseZero(hn::Gt(size, ints(0)), sign);
  }
  return hn::BitCast(Words(), hn::Or(code, sign));
}

// Returns the code in the low bits of each lane; higher bits are garbage.
template <class Element, bool kMayBeNan = true>
HWY_INLINE hn::Vec<Words> encode_small(Vector ratios) {
  using Format = SmallFloat<Element>;
  const auto size = hn::And(hn::BitCast(Ints(), ratios), ints(kMagnitudeMask));
  const auto within = hn::Min(size, ints(std::bit_cast<std::int32_t>(Format::kLargest)));
  const auto code = with_specials<Element, kMayBeNan>(rounded_code<Format>(within), size);
  return with_signs<Element>(code, ratios);
}

// Replaces decoded -0 by NaN for formats without -0.
template <class Element>
HWY_INLINE Vector without_minus_zero(Vector value) {
  if constexpr (SmallFloat<Element>::kHasMinusZero) {
    return value;
  } else {
    const auto bits = hn::BitCast(Ints(), value);
    const auto minus_zero = hn::Eq(bits, ints(std::bit_cast<std::int32_t>(-0.0F)));
    return hn::BitCast(Floats(), hn::IfThenElse(minus_zero, ints(kQuietNanBits), bits));
  }
}

// Decodes the codes in the low bits of each lane, ignoring higher bits.
template <class Element>
HWY_INLINE Vector decode_small(hn::Vec<Words> codes) {
  using Format = SmallFloat<Element>;
  constexpr std::int32_t kSign = 1 << Format::kMagnitudeBits;
  constexpr std::int32_t kOneBinade = 1 << kFloatMantissaBits;
  constexpr std::int32_t kRebias = power_of_two_bits(Format::kMinExponent - 1);
  const auto signed_code = hn::BitCast(Ints(), codes);
  const auto size = hn::And(signed_code, ints(kSign - 1));
  const auto moved = hn::ShiftLeft<kFloatMantissaBits - Format::kMantissaBits>(size);
  const auto normal = hn::Add(moved, ints(kRebias));
  // Subnormals lack the leading 1: it is added, one binade up, and subtracted again.
  const auto raised = hn::BitCast(Floats(), hn::Add(moved, ints(kRebias + kOneBinade)));
  const auto lead = hn::BitCast(Floats(), ints(power_of_two_bits(Format::kMinExponent)));
  const auto subnormal = hn::BitCast(Ints(), hn::Sub(raised, lead));
  auto number = hn::IfThenElse(hn::Lt(size, ints(1 << Format::kMantissaBits)), subnormal, normal);
  if constexpr (Format::kSpecials == SpecialValues::only_nan)
    number = hn::IfThenElse(hn::Eq(size, ints(Format::kInfCode)), ints(kQuietNanBits), number);
  if constexpr (Format::kSpecials == SpecialValues::ieee)
    number = hn::IfThenElse(hn::Gt(size, ints(Format::kInfCode - 1)),
                            hn::Add(normal, ints(kRebias)), number);
  const auto sign =
      hn::ShiftLeft<31 - Format::kMagnitudeBits>(hn::And(codes, hn::Set(Words(), kSign)));
  return without_minus_zero<Element>(
      hn::BitCast(Floats(), hn::Or(number, hn::BitCast(Ints(), sign))));
}

// decode_stored() decodes codes of one or two bytes to the same values as decode_small();
// encode_halves() encodes as encode_small<Fp16Element>().
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)

// These targets convert binary16, including subnormals, in one instruction. A code moved to the
// upper bits of a binary16 has its own value up to a power of two, the difference of the biases.
template <class Element>
constexpr float kHalfUnit = std::bit_cast<float>(
    power_of_two_bits(15 + SmallFloat<Element>::kMinExponent - 1));  // 15: bias of binary16

// Finite values of codes in units of kHalfUnit; other codes are garbage.
template <class Element>
HWY_INLINE Vector finite_as_halves(hn::Vec<Halves> codes) {
  using Format = SmallFloat<Element>;
  constexpr int kBits = 1 + Format::kMagnitudeBits;
  constexpr int kExponentBits = Format::kMagnitudeBits - Format::kMantissaBits;
  constexpr int kToExponent = 5 - kExponentBits;  // bits between the sign and the exponent
  constexpr std::uint16_t kBetween = 0x8000U - (0x8000U >> kToExponent);
  const hn::RebindToSigned<Halves> signed_halves;
  const hn::Rebind<hwy::float16_t, Floats> floats16;
  auto half = codes;
  if constexpr (kBits < 16) half = hn::ShiftLeft<16 - kBits>(half);
  if constexpr (kToExponent > 0) {  // the shift brings in copies of the sign, which are cleared
    const auto moved = hn::ShiftRight<kToExponent>(hn::BitCast(signed_halves, half));
    half = hn::AndNot(hn::Set(Halves(), kBetween), hn::BitCast(Halves(), moved));
  }
  return hn::PromoteTo(Floats(), hn::BitCast(floats16, half));
}

template <class Element>
HWY_INLINE Vector decode_as_halves(hn::Vec<Halves> codes) {
  using Format = SmallFloat<Element>;
  Vector value = finite_as_halves<Element>(codes);
  if constexpr (kHalfUnit<Element> != 1.0F)
    value = hn::Mul(value, hn::Set(Floats(), kHalfUnit<Element>));
  if constexpr (Format::kSpecials == SpecialValues::only_nan) {
    // Value of the NaN code if the format continued: one step above the largest, 448.
    constexpr float kBeyond = Format::kLargest + Format::kLargest / 14.0F;
    const Vector nan = hn::BitCast(Floats(), ints(kQuietNanBits));
    const auto is_nan = hn::Eq(hn::Abs(value), hn::Set(Floats(), kBeyond));
    value = hn::IfThenElse(is_nan, hn::CopySign(nan, value), value);
  }
  return without_minus_zero<Element>(value);
}

HWY_INLINE hn::Vec<Halves> encode_halves(Vector values) {
  const hn::Rebind<hwy::float16_t, Floats> floats16;
  return hn::BitCast(Halves(), hn::DemoteTo(floats16, values));
}

// decode_as_halves() does not apply if the largest exponent, Inf and NaN in binary16, encodes
// numbers.
template <class Element>
HWY_INLINE Vector decode_stored(hn::Vec<Halves> codes) {
  using Format = SmallFloat<Element>;
  constexpr bool kSameExponents = Format::kMagnitudeBits - Format::kMantissaBits == 5;
  if constexpr (kSameExponents && Format::kSpecials != SpecialValues::ieee) {
    return decode_small<Element>(hn::PromoteTo(Words(), codes));
  } else {
    return decode_as_halves<Element>(codes);
  }
}

#else

template <class Element>
constexpr float kHalfUnit = 1.0F;

template <class Element>
HWY_INLINE Vector finite_as_halves(hn::Vec<Halves> codes) {
  return decode_small<Element>(hn::PromoteTo(Words(), codes));
}

HWY_INLINE hn::Vec<Halves> encode_halves(Vector values) {
  return hn::TruncateTo(Halves(), encode_small<Fp16Element>(values));
}

template <class Element>
HWY_INLINE Vector decode_stored(hn::Vec<Halves> codes) {
  return decode_small<Element>(hn::PromoteTo(Words(), codes));
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
