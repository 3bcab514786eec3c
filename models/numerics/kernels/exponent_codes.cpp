#include "models/numerics/kernels/exponent_codes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "models/numerics/elements/element_codecs.hpp"

// foreach_target.h re-includes this file once per instruction set. The -inl headers follow it, so
// that they are compiled for each instruction set too.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/numerics/kernels/exponent_codes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "models/numerics/kernels/codes-inl.hpp"
#include "models/numerics/kernels/lane_counts-inl.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"
#include "models/numerics/kernels/packing-inl.hpp"
#include "models/numerics/kernels/partial-inl.hpp"
#include "models/numerics/kernels/stochastic-inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels::HWY_NAMESPACE {
namespace {

constexpr std::int32_t kMostExponent = 127;            // of the smallest magnitude, 2^-127
constexpr std::int32_t kSubnormalBits = 1 << 22;       // 2^-127
constexpr std::int32_t kMantissaMask = (1 << 23) - 1;  // of FP32
constexpr std::int32_t kOneBits = 127 << 23;           // 1.0
constexpr int kToSign = 24;  // from the sign bit of a code to the one of FP32

// A code in each lane: its exponent E from 0 to 127, and its sign in the sign bit.
struct Codes {
  hn::Vec<Ints> exponent;
  hn::Vec<Ints> sign;
};

HWY_INLINE hn::Vec<Ints> sign_bits() { return hn::Set(Ints(), ~kMagnitudeMask); }

HWY_INLINE Vector values_of(const Codes& codes) {
  const auto most = ints(kMostExponent);
  const auto normal = hn::ShiftLeft<23>(hn::Sub(most, codes.exponent));
  const auto number = hn::IfThenElse(hn::Eq(codes.exponent, most), ints(kSubnormalBits), normal);
  const auto magnitude = hn::IfThenElseZero(hn::Gt(codes.exponent, ints(0)), number);
  return hn::BitCast(Floats(), hn::Or(magnitude, codes.sign));
}

// Other values have the exponent of the next lower power of two, or 0 if there is none.
HWY_INLINE Codes codes_of(Vector values) {
  const auto bits = hn::BitCast(Ints(), values);
  const auto size = hn::And(bits, hn::Set(Ints(), kMagnitudeMask));
  const auto exponent = hn::Sub(ints(kMostExponent), hn::ShiftRight<23>(size));
  const auto within = hn::And(hn::Gt(size, ints(kSubnormalBits - 1)), hn::Lt(size, ints(kOneBits)));
  return {hn::IfThenElseZero(within, exponent), hn::And(bits, sign_bits())};
}

HWY_INLINE Codes load_exponents(const std::byte* from, std::size_t count) {
  const auto bytes = load_some(from, count, [](const std::byte* all) HWY_ATTR {
    return hn::PromoteTo(Ints(),
                         hn::LoadU(UnsignedBytes(), reinterpret_cast<const std::uint8_t*>(all)));
  });
  return {hn::And(bytes, ints(kMostExponent)), hn::And(hn::ShiftLeft<kToSign>(bytes), sign_bits())};
}

HWY_INLINE hn::Vec<Ints> fractions(const std::uint32_t* words) {
  return hn::BitCast(Ints(), hn::ShiftRight<8>(hn::LoadU(Words(), words)));
}

// Rounds up, to the next power of two, where the random number is below the distance to the lower
// one, both in units of 2^-24 of that power.
HWY_INLINE Codes rounded_exponents(Vector values, const std::uint32_t* words) {
  const auto bits = hn::BitCast(Ints(), values);
  const auto size = hn::And(bits, hn::Set(Ints(), kMagnitudeMask));
  const auto exponent = hn::ShiftRight<23>(size);
  const auto mantissa = hn::And(size, ints(kMantissaMask));
  const auto is_normal = hn::Gt(exponent, ints(0));
  // Subnormals from 2^-127 have one mantissa bit fewer; all others become 2^-127.
  const auto above = hn::ShiftLeft<2>(hn::Sub(mantissa, ints(kSubnormalBits)));
  const auto rest = hn::IfThenElse(is_normal, hn::Add(mantissa, mantissa), above);
  const auto up = hn::Lt(fractions(words), rest);
  // A true lane is -1.
  const auto raised = hn::Add(hn::Sub(ints(kMostExponent), exponent), hn::VecFromMask(Ints(), up));
  const auto code = hn::Min(hn::Max(raised, ints(1)), ints(kMostExponent));
  const auto number = hn::And(hn::Gt(size, ints(0)), hn::Lt(size, ints(kInfinityBits + 1)));
  return {hn::IfThenElseZero(number, code), hn::IfThenElseZero(number, hn::And(bits, sign_bits()))};
}

// -floor(log2 u) of the random numbers u; 126 for 0, as the reference code adds 2^-126.
HWY_INLINE hn::Vec<Ints> doublings_of(const std::uint32_t* words) {
  constexpr std::int32_t kOfZero = 126;
  constexpr std::int32_t kBias = 127;
  constexpr std::int32_t kRandomBits = 24;
  const auto fraction = fractions(words);
  const auto bits = hn::BitCast(Ints(), hn::ConvertTo(Floats(), fraction));
  const auto doublings = hn::Sub(ints(kRandomBits + kBias), hn::ShiftRight<23>(bits));
  return hn::IfThenElse(hn::Eq(fraction, ints(0)), ints(kOfZero), doublings);
}

struct Sum {
  Codes codes;
  hn::Mask<Ints> overflows;  // a doubled 1/2, which has no code
};

// sum_of() of codec/exponents.hpp.
HWY_INLINE Sum sums_of(const Codes& one, const Codes& other, const std::uint32_t* words) {
  const auto zero = ints(0);
  const auto opposite = hn::Ne(one.sign, other.sign);
  const auto difference = hn::Abs(hn::Sub(one.exponent, other.exponent));
  const auto distance = hn::Add(difference, hn::VecFromMask(Ints(), opposite));
  const auto steps = hn::VecFromMask(Ints(), hn::Gt(doublings_of(words), distance));  // 0 or -1
  const auto larger = hn::Min(one.exponent, other.exponent);
  const auto moved = hn::IfThenElse(opposite, hn::Sub(larger, steps), hn::Add(larger, steps));
  const auto cancels = hn::And(opposite, hn::Eq(difference, zero));
  const auto exponent = hn::IfThenZeroElse(cancels, moved);
  const auto other_is_larger = hn::Gt(one.exponent, other.exponent);
  const auto sign = hn::IfThenElse(other_is_larger, other.sign, one.sign);
  const auto no_one = hn::Eq(one.exponent, zero);
  const auto no_other = hn::Eq(other.exponent, zero);
  const auto both = hn::Not(hn::Or(no_one, no_other));
  const auto no_sum = hn::Eq(exponent, zero);
  const auto select = [&](auto sum, auto of_one, auto of_other) HWY_ATTR {
    return hn::IfThenElse(no_one, of_other, hn::IfThenElse(no_other, of_one, sum));
  };
  return {{select(exponent, one.exponent, other.exponent), select(sign, one.sign, other.sign)},
          hn::And(both, hn::AndNot(opposite, no_sum))};
}

// Code in the lowest byte of each lane.
HWY_INLINE hn::Vec<Words> code_words(const Codes& codes) {
  const auto sign = hn::ShiftRight<kToSign>(hn::BitCast(Words(), codes.sign));
  return hn::Or(hn::BitCast(Words(), codes.exponent), sign);
}

// Calls act(first element, number, random words) for parts of up to kDrawn elements.
template <class Act>
HWY_INLINE void for_each_drawn(std::size_t elements, const RoundingKey& key, Act act) {
  RoundingKey from = key;
  for (std::size_t done = 0; done < elements; done += kDrawn) {
    const std::size_t length = std::min(kDrawn, elements - done);
    from.first_element = key.first_element + done;
    act(done, length, RoundingWords(from, length));
  }
}

void Round(std::span<float> values, const RoundingKey& key) {
  for_each_drawn(values.size(), key,
                 [&](std::size_t done, std::size_t length, const RoundingWords& words) HWY_ATTR {
                   for_each_vector(0, length, [&](std::size_t i, std::size_t count) HWY_ATTR {
                     float* const at = values.data() + done + i;
                     const Codes codes = rounded_exponents(load_some(at, count), words.from(i));
                     store_some(values_of(codes), at, count);
                   });
                 });
}

#if HWY_TARGET == HWY_SCALAR

HWY_INLINE std::size_t add_bytes(const std::byte*, const RoundingWords&, std::size_t, float*,
                                 std::uint64_t&) {
  return 0;
}

#else

using AllSigned = hn::RebindToSigned<AllBytes>;

// sums_of() for as many codes as a vector has bytes. `exponents`: of the upper 24 random bits as a
// number in FP32, 0 for zero. Adds overflows.
HWY_INLINE hn::Vec<AllBytes> sum_bytes(hn::Vec<AllBytes> one, hn::Vec<AllBytes> other,
                                       hn::Vec<AllBytes> exponents, std::uint64_t& overflows) {
  constexpr std::uint8_t kOfOne = 127 + 24;  // exponent plus doublings
  constexpr std::uint8_t kOfZero = 126;
  const AllBytes bytes;
  const AllSigned numbers;
  const auto zero = hn::Zero(bytes);
  const auto exponent_bits = hn::Set(bytes, std::uint8_t{kMostExponent});
  const auto own = hn::And(one, exponent_bits);
  const auto term = hn::And(other, exponent_bits);
  const auto opposite = hn::BroadcastSignBit(hn::BitCast(numbers, hn::Xor(one, other)));  // 0 or -1
  const auto larger = hn::Min(own, term);
  const auto difference = hn::Sub(hn::Max(own, term), larger);
  const auto distance = hn::Add(hn::BitCast(numbers, difference), opposite);
  const auto doublings =
      hn::Min(hn::Sub(hn::Set(bytes, kOfOne), exponents), hn::Set(bytes, kOfZero));
  const auto steps =
      hn::VecFromMask(numbers, hn::Gt(hn::BitCast(numbers, doublings), distance));  // 0 or -1
  const auto moves = hn::Sub(hn::Xor(steps, opposite), opposite);
  const auto is_opposite = hn::RebindMask(bytes, hn::MaskFromVec(opposite));
  const auto cancels = hn::And(is_opposite, hn::Eq(difference, zero));
  const auto exponent = hn::IfThenZeroElse(cancels, hn::Add(larger, hn::BitCast(bytes, moves)));
  const auto of_larger = hn::IfThenElse(hn::Eq(larger, own), one, other);
  const auto sum = hn::Or(exponent, hn::AndNot(exponent_bits, of_larger));
  const auto no_own = hn::Eq(own, zero);
  const auto no_term = hn::Eq(term, zero);
  const auto none = hn::Or(hn::Or(no_own, no_term), is_opposite);
  const auto overflow = hn::AndNot(none, hn::Eq(exponent, zero));
  if (HWY_UNLIKELY(!hn::AllFalse(bytes, overflow))) overflows += hn::CountTrue(bytes, overflow);
  return hn::IfThenElse(no_own, other, hn::IfThenElse(no_term, one, sum));
}

// Adds whole vectors of bytes, and returns the number of their elements.
HWY_INLINE std::size_t add_bytes(const std::byte* terms, const RoundingWords& words,
                                 std::size_t count, float* sums, std::uint64_t& overflows) {
  HWY_ALIGN std::array<std::byte, kDrawn> codes;
  HWY_ALIGN std::array<std::byte, kDrawn> exponents;
  const std::size_t step = hn::Lanes(AllBytes());
  const std::size_t whole = count / step * step;
  for (std::size_t i = 0; i < whole; i += lanes()) {
    store_codes<Int8Element>(code_words(codes_of(load(sums + i))), codes.data() + i);
    const Vector fraction = hn::ConvertTo(Floats(), fractions(words.from(i)));
    store_codes<Int8Element>(hn::ShiftRight<23>(hn::BitCast(Words(), fraction)),
                             exponents.data() + i);
  }
  for (std::size_t i = 0; i < whole; i += step)
    store_bytes(sum_bytes(load_bytes(codes.data() + i), load_bytes(terms + i),
                          load_bytes(exponents.data() + i), overflows),
                codes.data() + i);
  for (std::size_t i = 0; i < whole; i += lanes())
    store(values_of(load_exponents(codes.data() + i, lanes())), sums + i);
  return whole;
}

#endif

std::uint64_t Add(const std::byte* terms, std::span<float> sums, const RoundingKey& key) {
  std::uint64_t overflows = 0;
  for_each_drawn(sums.size(), key,
                 [&](std::size_t done, std::size_t length, const RoundingWords& words) HWY_ATTR {
                   float* const to = sums.data() + done;
                   const std::size_t whole = add_bytes(terms + done, words, length, to, overflows);
                   for_each_vector(whole, length, [&](std::size_t i, std::size_t count) HWY_ATTR {
                     const Codes term = load_exponents(terms + done + i, count);
                     const Sum sum =
                         sums_of(codes_of(load_some(to + i, count)), term, words.from(i));
                     store_some(values_of(sum.codes), to + i, count);
                     if (HWY_LIKELY(hn::AllFalse(Ints(), sum.overflows))) return;
                     const auto real = hn::RebindMask(Ints(), first_lanes(count));
                     overflows += hn::CountTrue(Ints(), hn::And(sum.overflows, real));
                   });
                 });
  return overflows;
}

void Store(std::span<const float> values, std::byte* codes) {
  for_each_vector(0, values.size(), [&](std::size_t i, std::size_t count) HWY_ATTR {
    const auto code = code_words(codes_of(load_some(values.data() + i, count)));
    store_some(codes + i, count,
               [&](std::byte* to) HWY_ATTR { store_codes<Int8Element>(code, to); });
  });
}

void Load(const std::byte* codes, std::span<float> values) {
  for_each_vector(0, values.size(), [&](std::size_t i, std::size_t count) HWY_ATTR {
    store_some(values_of(load_exponents(codes + i, count)), values.data() + i, count);
  });
}

}  // namespace
}  // namespace equarx::numerics::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace equarx::numerics::kernels {

namespace {
HWY_EXPORT(Round);
HWY_EXPORT(Add);
HWY_EXPORT(Store);
HWY_EXPORT(Load);
}  // namespace

namespace exponents {

void round(std::span<float> values, const RoundingKey& key) {
  HWY_DYNAMIC_DISPATCH(Round)(values, key);
}

std::uint64_t add(const std::byte* terms, std::span<float> sums, const RoundingKey& key) {
  return HWY_DYNAMIC_DISPATCH(Add)(terms, sums, key);
}

void store(std::span<const float> values, std::byte* codes) {
  HWY_DYNAMIC_DISPATCH(Store)(values, codes);
}

void load(const std::byte* codes, std::span<float> values) {
  HWY_DYNAMIC_DISPATCH(Load)(codes, values);
}

}  // namespace exponents
}  // namespace equarx::numerics::kernels
#endif
