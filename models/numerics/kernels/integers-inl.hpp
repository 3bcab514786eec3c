// Integer codes for scales that are not powers of two, without a division per element. These are
// the formats most used by collectives.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_INTEGERS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_INTEGERS_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_INTEGERS_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_INTEGERS_INL_HPP_
#endif

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <hwy/highway.h>

#include "models/numerics/kernels/counted_runs-inl.hpp"
#include "models/numerics/kernels/lane_counts-inl.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"
#include "models/numerics/kernels/runs-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

// Division is the slowest part of quantization; two multiplications by bounds of 1 / scale replace
// it almost everywhere. With u = 2^-24, the IEEE quotient is within a factor 1 +- u of x / scale,
// and the rounded reciprocal r within 1 +- u of 1 / scale. So for low = r (1 - 4 u) and high = r (1
// + 4 u), rounded, x low and x high enclose the quotient. All later roundings are monotonic: if
// both bounds give the same code, so does the quotient. Otherwise, in a few vectors of ten
// thousand, the code divides.
constexpr float kFourUlps = 0x1p-22F;

// Range of scales whose bounds, times codes per unit, are neither subnormal nor infinite.
constexpr float kSmallestInverted = 0x1p-100F;
constexpr float kLargestInverted = 0x1p100F;

// Returns the bounds times codes per unit; NaN, which selects the division, for scales out of
// range.
template <class Element>
HWY_INLINE Vector bounds(Vector scales, float factor) {
  const auto normal = hn::And(hn::Ge(scales, hn::Set(Floats(), kSmallestInverted)),
                              hn::Le(scales, hn::Set(Floats(), kLargestInverted)));
  const Vector reciprocals = hn::Div(hn::Set(Floats(), 1.0F), scales);
  const Vector moved = hn::Mul(reciprocals, hn::Set(Floats(), factor));
  return hn::IfThenElse(normal, hn::Mul(moved, hn::Set(Floats(), Element::kCodesPerUnit)),
                        hn::NaN(Floats()));
}

// Vectors that share one check of their codes.
constexpr std::size_t kBoundedVectors = 4;

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

// Where both bounds give the same code within the codes, nothing is clipped, and only code 0
// decodes as 0. `counts`: NoCounts, or raised by the effects on the values.
template <class Element, class Scales, class Bounds, class Counts>
HWY_INLINE void quantize_by_bounds(const float* values, std::size_t count, Scales scales,
                                   Bounds bounds, std::byte* codes, Counts& counts) {
  constexpr bool kCounts = std::is_same_v<Counts, QuantizeCounts>;
  constexpr std::size_t kVectors = kBoundedVectors;
  // Bits of a sum: bits of code 0 plus the code.
  constexpr auto kLowest =
      std::bit_cast<std::uint32_t>(kAligned) - static_cast<std::uint32_t>(Element::kLargestCode);
  constexpr auto kRange = static_cast<std::uint32_t>(2 * Element::kLargestCode);
  const Vector aligned = hn::Set(Floats(), kAligned);
  const auto lowest = hn::Set(Words(), kLowest);
  const auto range = hn::Set(Words(), kRange);
  const auto code_zero = hn::BitCast(Words(), aligned);
  LaneCounts many;
  const std::size_t step = kVectors * lanes();
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    auto differences = hn::Zero(Words());
    auto most = hn::Zero(Words());
    auto flushed = many.flushed;
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t at = i + v * lanes();
      const Vector here = load(values + at);
      const auto upper = hn::BitCast(Words(), hn::MulAdd(here, bounds.upper(at), aligned));
      const auto lower = hn::BitCast(Words(), hn::MulAdd(here, bounds.lower(at), aligned));
      differences = hn::Or(differences, hn::Xor(upper, lower));
      most = hn::Max(most, hn::Sub(upper, lowest));
      store_codes<Element>(upper, codes + at);
      if constexpr (kCounts) {
        const auto is_zero = hn::RebindMask(Floats(), hn::Eq(upper, code_zero));
        add_mask(flushed, hn::AndNot(hn::Eq(here, hn::Zero(Floats())), is_zero));
      }
    }
    // Also true for NaN and beyond the codes.
    const auto unsure = hn::Or(differences, hn::Sub(hn::Max(most, range), range));
    if (HWY_UNLIKELY(!hn::AllTrue(Words(), hn::Eq(unsure, hn::Zero(Words()))))) {
      quantize_run<Element>(values + i, step, scales.from(i), codes + i);
      if constexpr (kCounts) count_apart<Element>(values + i, step, scales.from(i), counts);
    } else {
      many.flushed = flushed;
    }
  }
  quantize_run<Element>(values + i, count - i, scales.from(i), codes + i);
  if constexpr (kCounts) {
    count_apart<Element>(values + i, count - i, scales.from(i), counts);
    many.add_to(counts);
  }
}

template <class Element, class Counts>
HWY_INLINE void quantize_block(const float* values, std::size_t count, SharedScale scale,
                               std::byte* codes, Counts& counts) {
  const SharedBounds both{bounds<Element>(scale.many(0), 1.0F - kFourUlps),
                          bounds<Element>(scale.many(0), 1.0F + kFourUlps)};
  quantize_by_bounds<Element>(values, count, scale, both, codes, counts);
}

// Elements from which bounds pay off for strided scales: a few registers that share them.
HWY_INLINE bool bounds_pay_off(const BlockFormat& format, std::size_t elements) {
  return elements >= 4 * format.columns;
}

// Bounds of all lanes of a register, or of fewer columns.
template <class Element>
class RegisterBounds {
 public:
  HWY_INLINE void compute(const float* scales, std::size_t columns) {
    for (std::size_t i = 0; i < columns; i += lanes()) {
      store(bounds<Element>(load(scales + i), 1.0F - kFourUlps), low_.data() + i);
      store(bounds<Element>(load(scales + i), 1.0F + kFourUlps), high_.data() + i);
    }
  }
  HWY_INLINE LaneBounds from(std::size_t lane) const {
    return {low_.data() + lane, high_.data() + lane};
  }

 private:
  std::array<float, kRegisterElements> low_;
  std::array<float, kRegisterElements> high_;
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
