// Counts of clipped, flushed and non-finite elements in lanes.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_LANE_COUNTS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_LANE_COUNTS_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_LANE_COUNTS_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_LANE_COUNTS_INL_HPP_
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "models/numerics/kernels/lanes-inl.hpp"
#include "models/numerics/kernels/quantize_counts.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

HWY_INLINE std::uint64_t sum_of(hn::Vec<Ints> counts) {
  return static_cast<std::uint64_t>(hn::GetLane(hn::SumOfLanes(Ints(), counts)));
}

// In place of counts that nobody needs.
struct NoCounts {};

// Elements whose counts fit in 32 bits.
constexpr std::size_t kMostCounted = std::size_t{1} << 30;

// Counts per lane; a true mask lane is -1.
struct LaneCounts {
  // Default member initializers would not be compiled for the instruction set.
  HWY_INLINE LaneCounts()
      : clipped(hn::Zero(Ints())), flushed(hn::Zero(Ints())), non_finite(hn::Zero(Ints())) {}
  HWY_INLINE void add_to(QuantizeCounts& counts) const {
    counts.clipped += sum_of(clipped);
    counts.flushed += sum_of(flushed);
    counts.non_finite += sum_of(non_finite);
  }
  hn::Vec<Ints> clipped;
  hn::Vec<Ints> flushed;
  hn::Vec<Ints> non_finite;
};

template <class Mask>
HWY_INLINE void add_mask(hn::Vec<Ints>& counts, Mask mask) {
  counts = hn::Sub(counts, hn::VecFromMask(Ints(), hn::RebindMask(Ints(), mask)));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
