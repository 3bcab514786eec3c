// Quantization of runs that counts its effects in the same pass.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_COUNTED_RUNS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_COUNTED_RUNS_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_COUNTED_RUNS_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_COUNTED_RUNS_INL_HPP_
#endif

#include <cstddef>

#include <hwy/highway.h>

#include "models/numerics/kernels/codes-inl.hpp"
#include "models/numerics/kernels/counts-inl.hpp"
#include "models/numerics/kernels/lane_counts-inl.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"
#include "models/numerics/kernels/quantize_counts.hpp"
#include "models/numerics/kernels/runs-inl.hpp"
#include "models/numerics/kernels/small_floats-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

// Counts of a few elements among others that are counted as they are quantized.
template <class Element, class Scales>
HWY_NOINLINE void count_apart(const float* values, std::size_t count, const Scales& scales,
                              QuantizeCounts& counts) {
  count_run<Element>(values, count, scales, Nearest{}, counts);
}

// Floats of at most a byte.
template <class Element>
constexpr bool kSmall = requires {
  Element::kCodeMantissaBits;
};

// Scales with which neither the least code above 0 becomes 0 nor the largest one infinite.
constexpr float kLeastOrdinary = 0x1p-100F;
constexpr float kLargestOrdinary = 0x1p100F;

// Equals quantize_run(), and counts. Quotients below the threshold of clipping have finite codes;
// those of at most half a step above 0, which is a tie, have code 0. All other codes keep a value
// other than 0 unless the scale is extreme.
template <class Element>
HWY_INLINE void quantize_counted_run(const float* values, std::size_t count, LaneScales scales,
                                     std::byte* codes, QuantizeCounts& counts) {
  using Format = SmallFloat<Element>;
  const Vector half_step = hn::BitCast(
      Floats(), ints(power_of_two_bits(Format::kMinExponent - Format::kMantissaBits - 1)));
  const Vector clipped = hn::Set(Floats(), Element::kClipThreshold);
  const Vector least = hn::Set(Floats(), kLeastOrdinary);
  const Vector most = hn::Set(Floats(), kLargestOrdinary);
  LaneCounts many;
  std::size_t i = 0;
  for (; i + lanes() <= count; i += lanes()) {
    const Vector here = load(values + i);
    const Vector scale = scales.many(i);
    const Vector ratios = quotients(here, scales, i);
    const Vector sizes = hn::Abs(ratios);
    store_encoded<Element, false>(ratios, codes + i);
    const auto ordinary = hn::And(hn::Ge(scale, least), hn::Le(scale, most));
    if (HWY_UNLIKELY(!hn::AllTrue(Floats(), hn::And(ordinary, hn::Lt(sizes, clipped)))))
      count_apart<Element>(values + i, lanes(), scales.from(i), counts);
    else
      add_mask(many.flushed,
               hn::AndNot(hn::Eq(here, hn::Zero(Floats())), hn::Le(sizes, half_step)));
  }
  many.add_to(counts);
  quantize_run<Element>(values + i, count - i, scales.from(i), codes + i);
  count_apart<Element>(values + i, count - i, scales.from(i), counts);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
