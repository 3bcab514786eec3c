// Elements of QuickReduce: their scales, codes and numbers.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_PAIRED_ELEMENTS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_PAIRED_ELEMENTS_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_PAIRED_ELEMENTS_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_PAIRED_ELEMENTS_INL_HPP_
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include <hwy/highway.h>

#include "models/numerics/elements/element_codecs.hpp"
#include "models/numerics/kernels/codes-inl.hpp"
#include "models/numerics/kernels/half-inl.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"
#include "models/numerics/kernels/packing-inl.hpp"
#include "models/numerics/kernels/paired_runs-inl.hpp"
#include "models/numerics/kernels/small_floats-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

// Integers with codes from -kCodes to kCodes - 1.
template <int kCodes, class Stored>
struct Integers {
  using Element = Stored;
  using Unpacked = Int8Element;
  static constexpr bool kHasNan = false;  // NaN has the code of a number
  static constexpr float kLargest = kCodes;

  // `scaled`: extremum of a group. Returns its scale before the last rounding.
  HWY_INLINE static Vector scale(Vector extremum) {
    return hn::Mul(extremum, hn::Set(Floats(), -1.0F / kCodes));
  }
  // NaN becomes the lowest code.
  HWY_INLINE static Vector shifted(Vector scaled) {
    const Vector lowest = hn::Set(Floats(), -kCodes);
    const Vector above = hn::IfThenElse(hn::Gt(scaled, lowest), scaled, lowest);
    const Vector within = hn::Min(above, hn::Set(Floats(), kCodes - 1));
    return hn::Add(within, hn::Set(Floats(), kAligned));
  }
  HWY_INLINE static hn::Vec<Words> encode(Vector scaled) {
    return hn::BitCast(Words(), shifted(scaled));
  }
  // Product of two numbers in FP16. One that overflows has the outermost code, as if it did not.
  HWY_INLINE static Vector product(Vector halves, Vector factors) {
    return rounded_halves(hn::Mul(halves, factors));
  }
  // Numbers of codes in units of kUnit, if they are finite.
  static constexpr float kUnit = 1.0F;
  HWY_INLINE static Vector load_finite(const std::byte* codes) {
    return load_decoded<Unpacked>(codes);
  }
  HWY_INLINE static bool has_nan(const std::byte*) { return false; }
  HWY_INLINE static hn::Vec<Words> encode_finite(Vector scaled) { return encode(scaled); }
  HWY_INLINE static Vector through(Vector scaled) {
    return hn::Sub(shifted(scaled), hn::Set(Floats(), kAligned));
  }
  HWY_INLINE static hn::Mask<Floats> flushes(Vector scaled) {
    return hn::Eq(shifted(scaled), hn::Set(Floats(), kAligned));
  }
  // Half a step below the lowest code is a tie that rounds to it; half a step above the highest is
  // not.
  HWY_INLINE static hn::Mask<Floats> clips(Vector scaled) {
    return hn::Or(hn::Lt(scaled, hn::Set(Floats(), -kCodes - 0.5F)),
                  hn::Ge(scaled, hn::Set(Floats(), kCodes - 0.5F)));
  }
};

struct Float8 {
  using Element = Fp8E4m3FnuzElement;
  using Unpacked = Element;
  static constexpr bool kHasNan = true;
  static constexpr float kLargest = Element::kMaxFinite;

  HWY_INLINE static Vector scale(Vector extremum) {
    constexpr float kOneOver240 = 0x1.11p-8F;  // nearest FP16 number
    return hn::Mul(hn::Abs(extremum), hn::Set(Floats(), kOneOver240));
  }
  HWY_INLINE static hn::Vec<Words> encode(Vector scaled) { return encode_small<Element>(scaled); }
  HWY_INLINE static Vector product(Vector halves, Vector factors) {
    return saturated_halves(hn::Mul(halves, factors));
  }
#if HWY_TARGET != HWY_SCALAR
  static constexpr float kUnit = kHalfUnit<Element>;
  HWY_INLINE static Vector load_finite(const std::byte* codes) {
    return finite_as_halves<Element>(hn::PromoteTo(
        Halves(), hn::LoadU(UnsignedBytes(), reinterpret_cast<const std::uint8_t*>(codes))));
  }
  // True if a whole run has the code of NaN.
  HWY_INLINE static bool has_nan(const std::byte* codes) {
    const AllBytes bytes;
    const auto nan = hn::Set(bytes, std::uint8_t{Element::kNanCode});
    for (std::size_t i = 0; i < kRun; i += hn::Lanes(bytes))
      if (!hn::AllFalse(bytes, hn::Eq(load_bytes(codes + i), nan))) return true;
    return false;
  }
  // Code of a finite number.
  HWY_INLINE static hn::Vec<Words> encode_finite(Vector scaled) {
    using Format = SmallFloat<Element>;
    constexpr auto kFlushed = std::bit_cast<std::int32_t>(0x1p-11F);  // a tie at half a step
    const auto size = hn::And(hn::BitCast(Ints(), scaled), ints(kMagnitudeMask));
    const auto within = hn::Min(size, ints(std::bit_cast<std::int32_t>(Format::kLargest)));
    const auto moved = hn::ShiftRight<31 - Format::kMagnitudeBits>(hn::BitCast(Ints(), scaled));
    const auto sign = hn::And(moved, ints(1 << Format::kMagnitudeBits));
    const auto kept = hn::IfThenElseZero(hn::Gt(size, ints(kFlushed)), sign);
    return hn::BitCast(Words(), hn::Or(rounded_code<Format>(within), kept));
  }
#endif
  HWY_INLINE static Vector through(Vector scaled) { return through_codes<Element>(scaled); }
  HWY_INLINE static hn::Mask<Floats> flushes(Vector scaled) {
    return hn::Le(hn::Abs(scaled), hn::Set(Floats(), 0x1p-11F));  // a tie at half a step
  }
  HWY_INLINE static hn::Mask<Floats> clips(Vector scaled) {
    return hn::Gt(hn::Abs(scaled), hn::Set(Floats(), 248.0F));  // half a step above the largest
  }
};

template <class Act>
HWY_INLINE void with_codes(ElementFormat element, Act act) {
  switch (element) {
    case ElementFormat::int8: return act(Integers<128, Int8Element>{});
    case ElementFormat::int6: return act(Integers<32, Int6Element>{});
    case ElementFormat::int4: return act(Integers<8, Int4Element>{});
    case ElementFormat::fp8_e4m3fnuz: return act(Float8{});
    default: throw std::logic_error("QuickReduce has no kernels for this element");
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
