// Integer codes, in kernels of their own: these are the formats that collectives are used with.
// Compiled once for each instruction set: the guard lets it in again when foreach_target.h toggles.
#if defined(EQUARX_NUMERICS_KERNELS_INTEGERS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_INTEGERS_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_INTEGERS_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_INTEGERS_INL_HPP_
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <hwy/highway.h>

#include "models/numerics/kernels/absmax-inl.hpp"
#include "models/numerics/kernels/kernels.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class Element>
HWY_INLINE hn::Vec<UnsignedBytes> encode_integers(Vector ratios) {
  if constexpr (Element::kCodesPerUnit != 1.0F)
    ratios = hn::Mul(ratios, hn::Set(Floats(), Element::kCodesPerUnit));
  constexpr float kLargest = Element::kLargestCode;
  const Vector clamped =
      hn::Clamp(ratios, hn::Set(Floats(), -kLargest), hn::Set(Floats(), kLargest));
  const Vector aligned = hn::Add(clamped, hn::Set(Floats(), kAligned));
  return hn::TruncateTo(UnsignedBytes(), hn::BitCast(Words(), aligned));
}

template <class Element>
HWY_INLINE Vector decode_integers(const std::int8_t* codes) {
  const auto integers = hn::PromoteTo(Ints(), hn::LoadU(SignedBytes(), codes));
  const Vector numbers = hn::ConvertTo(Floats(), integers);
  if constexpr (Element::kCodesPerUnit == 1.0F) return numbers;
  return hn::Mul(numbers, hn::Set(Floats(), 1.0F / Element::kCodesPerUnit));
}

template <class Element, class Scales>
HWY_INLINE void quantize_integers(const float* values, std::size_t count, Scales scales,
                                  std::int8_t* codes) {
  std::size_t i = 0;
  for (; i + lanes() <= count; i += lanes()) {
    Vector ratios = quotients(load(values + i), scales, i);
    if constexpr (std::is_same_v<Scales, NoScale>)
      ratios = hn::IfThenElseZero(hn::Eq(ratios, ratios), ratios);
    hn::StoreU(encode_integers<Element>(ratios), UnsignedBytes(),
               reinterpret_cast<std::uint8_t*>(codes) + i);
  }
  for (; i < count; ++i) codes[i] = Element::encode(quotient(values[i], scales, i));
}

// Division is the slowest part of quantization; two multiplications by bounds of 1 / scale replace it
// almost everywhere. With u = 2^-24, the IEEE quotient is within a factor 1 +- u of x / scale, and
// so is r = the rounded 1 / scale of 1 / scale. So low = r (1 - 4 u) and high = r (1 + 4 u), rounded,
// have x low and x high on either side of the quotient. All roundings that follow are monotonic:
// where both bounds come to the same code, the quotient does too. Elsewhere, in a few vectors of ten
// thousand, one divides.
constexpr float kFourUlps = 0x1p-22F;

// Scales whose bounds are neither subnormal nor infinite, also times codes per unit.
constexpr float kSmallestInverted = 0x1p-100F;
constexpr float kLargestInverted = 0x1p100F;

// The bounds, times codes per unit. NaN, which leads to division, for other scales.
template <class Element>
HWY_INLINE Vector bounds(Vector scales, float factor) {
  const auto normal = hn::And(hn::Ge(scales, hn::Set(Floats(), kSmallestInverted)),
                              hn::Le(scales, hn::Set(Floats(), kLargestInverted)));
  const Vector reciprocals = hn::Div(hn::Set(Floats(), 1.0F), scales);
  const Vector moved = hn::Mul(reciprocals, hn::Set(Floats(), factor));
  return hn::IfThenElse(normal, hn::Mul(moved, hn::Set(Floats(), Element::kCodesPerUnit)),
                        hn::NaN(Floats()));
}

struct LaneBounds {
  const float* low;
  const float* high;
  HWY_INLINE Vector lower(std::size_t i) const { return load(low + i); }
  HWY_INLINE Vector upper(std::size_t i) const { return load(high + i); }
};
struct SharedBounds {
  Vector low;
  Vector high;
  HWY_INLINE Vector lower(std::size_t) const { return low; }
  HWY_INLINE Vector upper(std::size_t) const { return high; }
};

template <class Element, class Scales, class Bounds>
HWY_INLINE void quantize_by_bounds(const float* values, std::size_t count, Scales scales,
                                   Bounds bounds, std::int8_t* codes) {
  const Vector aligned = hn::Set(Floats(), kAligned);
  const Vector least = hn::Set(Floats(), kAligned - Element::kLargestCode);
  const Vector most = hn::Set(Floats(), kAligned + Element::kLargestCode);
  const auto upper = [&](std::size_t i) HWY_ATTR {
    return hn::MulAdd(load(values + i), bounds.upper(i), aligned);
  };
  const auto lower = [&](std::size_t i) HWY_ATTR {
    return hn::MulAdd(load(values + i), bounds.lower(i), aligned);
  };
  const auto put = [&](Vector shifted, std::size_t i) HWY_ATTR {
    const auto bits = hn::BitCast(Words(), hn::Min(hn::Max(shifted, least), most));
    hn::StoreU(hn::TruncateTo(UnsignedBytes(), bits), UnsignedBytes(),
               reinterpret_cast<std::uint8_t*>(codes) + i);
  };
  const std::size_t step = 2 * lanes();
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    const Vector one = upper(i);
    const Vector other = upper(i + lanes());
    const auto sure = hn::And(hn::Eq(one, lower(i)), hn::Eq(other, lower(i + lanes())));
    if (HWY_LIKELY(hn::AllTrue(Floats(), sure))) {
      put(one, i);
      put(other, i + lanes());
    } else {
      quantize_integers<Element>(values + i, step, scales.from(i), codes + i);
    }
  }
  quantize_integers<Element>(values + i, count - i, scales.from(i), codes + i);
}

template <class Element>
HWY_INLINE void quantize_block(const float* values, std::size_t count, SharedScale scale,
                               std::int8_t* codes) {
  const SharedBounds both{bounds<Element>(scale.many(0), 1.0F - kFourUlps),
                          bounds<Element>(scale.many(0), 1.0F + kFourUlps)};
  quantize_by_bounds<Element>(values, count, scale, both, codes);
}

// Strided: worth while from a few registers on, which share the bounds.
constexpr std::size_t kBoundsPayOff = 4 * kRegisterElements;

template <class Element>
void quantize_registers(const Piece& piece, std::span<const float> values, std::int8_t* codes) {
  std::array<float, kRegisterElements> low;
  std::array<float, kRegisterElements> high;
  for (std::size_t i = 0; i < kRegisterElements; i += lanes()) {
    store(bounds<Element>(load(piece.scales + i), 1.0F - kFourUlps), low.data() + i);
    store(bounds<Element>(load(piece.scales + i), 1.0F + kFourUlps), high.data() + i);
  }
  visit_groups(piece, values.size(), [&](std::size_t done, std::size_t length, std::size_t lane) {
    quantize_by_bounds<Element>(values.data() + done, length, LaneScales{piece.scales + lane},
                                LaneBounds{low.data() + lane, high.data() + lane}, codes + done);
  });
}

template <class Element>
void quantize_all_integers(const Piece& piece, std::span<const float> values, std::int8_t* codes) {
  const bool strided = piece.format.scaled && piece.format.layout == ScaleLayout::strided;
  if (strided && values.size() >= kBoundsPayOff)
    return quantize_registers<Element>(piece, values, codes);
  visit_scales(piece, values.size(),
               [&](std::size_t done, std::size_t length, std::size_t, auto scales) {
                 if constexpr (std::is_same_v<decltype(scales), SharedScale>) {
                   quantize_block<Element>(values.data() + done, length, scales, codes + done);
                 } else {
                   quantize_integers<Element>(values.data() + done, length, scales, codes + done);
                 }
               });
}

template <class Element, class Scales>
HWY_INLINE void dequantize_integers(const std::int8_t* codes, std::size_t count, Scales scales,
                                    float* values) {
  std::size_t i = 0;
  for (; i + lanes() <= count; i += lanes())
    store(products(decode_integers<Element>(codes + i), scales, i), values + i);
  for (; i < count; ++i) values[i] = product(Element::decode(codes[i]), scales, i);
}

template <class Element, class Scales, class Maximum>
HWY_INLINE void add_integers(const std::int8_t* codes, std::size_t count, Scales scales,
                             const float* local, float* sums, Maximum maximum) {
  std::size_t i = 0;
  for (; i + lanes() <= count; i += lanes()) {
    const Vector sum =
        hn::Add(load(local + i), products(decode_integers<Element>(codes + i), scales, i));
    store(sum, sums + i);
    maximum.raise(sum, i);
  }
  for (; i < count; ++i) {
    sums[i] = local[i] + product(Element::decode(codes[i]), scales, i);
    maximum.raise(sums[i], i);
  }
  maximum.finish();
}

// Two registers that follow each other share one load of their scales, and one load and store of
// their abs-max.
template <class Element>
HWY_INLINE void add_two_registers(const std::int8_t* codes, const float* scales, const float* local,
                                  float* sums, float* absmax) {
  for (std::size_t i = 0; i < kRegisterElements; i += lanes()) {
    const std::size_t j = i + kRegisterElements;
    const Vector scale = load(scales + i);
    const Vector one =
        hn::Add(load(local + i), hn::Mul(decode_integers<Element>(codes + i), scale));
    const Vector two =
        hn::Add(load(local + j), hn::Mul(decode_integers<Element>(codes + j), scale));
    store(one, sums + i);
    store(two, sums + j);
    store(larger(load(absmax + i), larger(one, two)), absmax + i);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
