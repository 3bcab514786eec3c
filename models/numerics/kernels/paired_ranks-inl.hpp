// Extrema of the two groups of a run of QuickReduce.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_PAIRED_RANKS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_PAIRED_RANKS_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_PAIRED_RANKS_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_PAIRED_RANKS_INL_HPP_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "models/numerics/kernels/extrema-inl.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"
#include "models/numerics/kernels/paired_runs-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

// Ranks of the groups of a run; a group without elements in the piece has the lowest one.
class PairRanks {
 public:
#if HWY_TARGET == HWY_SCALAR
  HWY_INLINE void raise(hn::Vec<Words> ranks, std::size_t i) {
    ranks_[i % 2] = std::max(ranks_[i % 2], hn::GetLane(ranks));
  }
  HWY_INLINE void add_to(float* extrema) const {
    raise_extremum(ranks_[0], extrema);
    raise_extremum(ranks_[1], extrema + 1);
  }

 private:
  std::uint32_t ranks_[2] = {kEmptyRank, kEmptyRank};
#else
  HWY_INLINE PairRanks() : ranks_(hn::Zero(Words())) {}
  HWY_INLINE void raise(hn::Vec<Words> ranks, std::size_t) { ranks_ = hn::Max(ranks_, ranks); }
  HWY_INLINE void add_to(float* extrema) const {
    HWY_ALIGN std::uint32_t pair[4];
    hn::Store(higher_pair(ranks_), FourWords(), pair);
    raise_extremum(pair[0], extrema);
    raise_extremum(pair[1], extrema + 1);
  }

 private:
  hn::Vec<Words> ranks_;
#endif
};

#if HWY_TARGET != HWY_SCALAR

constexpr std::size_t kRunVectors = kRun / hn::MaxLanes(Floats());

// Ranks of the groups of a whole run of numbers, mostly finite.
class FiniteRanks {
 public:
  HWY_INLINE FiniteRanks() : ranks_(hn::Zero(Words())) {}
  HWY_INLINE void raise(Vector halves) {
    ranks_ = hn::Max(ranks_, hn::RotateRight<31>(hn::BitCast(Words(), halves)));
  }
  // False for Inf and NaN.
  HWY_INLINE bool are_finite() const {
    constexpr std::uint32_t kInfinityRank = 0xff000000U;
    const auto above = hn::Max(ranks_, hn::Set(Words(), kInfinityRank - 1));
    return hn::AllTrue(Words(), hn::Eq(above, hn::Set(Words(), kInfinityRank - 1)));
  }
  HWY_INLINE void add_to(float* extrema) const {
    HWY_ALIGN std::uint32_t pair[4];
    hn::Store(higher_pair(ranks_), FourWords(), pair);
    for (std::size_t i = 0; i < 2; ++i)
      raise_extremum(pair[i] < kZeroRank ? pair[i] + kZeroRank : pair[i], extrema + i);
  }

 private:
  hn::Vec<Words> ranks_;
};

#endif

HWY_INLINE hn::Vec<Words> covered_ranks(const WholeRun& run, Vector halves, std::size_t i) {
  const auto ranks = ranks_of<Signs::kept>(halves);
  return run.is_partial() ? hn::IfThenElseZero(run.covered(i), ranks) : ranks;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
