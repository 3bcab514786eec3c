// Largest magnitudes with or without their signs, ordered as integers.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_EXTREMA_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_EXTREMA_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_EXTREMA_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_EXTREMA_INL_HPP_
#endif

#include <bit>
#include <cstdint>
#include <limits>

#include <hwy/highway.h>

#include "models/numerics/kernels/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

// The rank of a number is its magnitude, then its sign: the bits rotated by one. So a larger number
// has a larger rank, and the negative one of two ranks higher. Below all numbers rank an empty group
// and NaN; zeros rank as the smallest numbers of their sign.
constexpr std::uint32_t kEmptyRank = 0;
constexpr std::uint32_t kNanRank = 1;
constexpr std::uint32_t kZeroRank = 2;

enum class Signs : bool { dropped, kept };

template <Signs kSigns>
HWY_INLINE hn::Vec<Words> ranks_of(Vector values) {
  const auto bits = hn::BitCast(Words(), values);
  auto rank = hn::Add(bits, bits);
  auto least = hn::Set(Words(), kZeroRank);
  if constexpr (kSigns == Signs::kept) {
    const auto sign = hn::ShiftRight<31>(bits);
    rank = hn::Or(rank, sign);
    least = hn::Or(least, sign);
  }
  const auto nan = hn::RebindMask(Words(), hn::IsNaN(values));
  return hn::IfThenElse(nan, hn::Set(Words(), kNanRank), hn::Max(rank, least));
}

// Rank of an extremum, or of an amax, found so far.
HWY_INLINE std::uint32_t rank_of_extremum(float extremum) {
  if (extremum != extremum) return kNanRank;
  return std::rotl(std::bit_cast<std::uint32_t>(extremum), 1);
}
HWY_INLINE float extremum_of(std::uint32_t rank) {
  if (rank == kNanRank) return std::numeric_limits<float>::quiet_NaN();
  return std::bit_cast<float>(std::rotr(rank, 1));
}

HWY_INLINE void raise_extremum(std::uint32_t rank, float* extremum) {
  if (rank != kEmptyRank && rank > rank_of_extremum(*extremum)) *extremum = extremum_of(rank);
}

#if HWY_TARGET == HWY_SCALAR

HWY_INLINE std::uint32_t highest_rank(hn::Vec<Words> ranks) { return hn::GetLane(ranks); }

#else

using FourWords = hn::CappedTag<std::uint32_t, 4>;
HWY_INLINE hn::Vec<FourWords> higher_half(hn::Vec<FourWords> four) { return four; }
template <class V>
HWY_INLINE hn::Vec<FourWords> higher_half(V ranks) {
  const hn::Half<hn::DFromV<V>> half;
  return higher_half(hn::Max(hn::LowerHalf(half, ranks), hn::UpperHalf(half, ranks)));
}

HWY_INLINE std::uint32_t highest_rank(hn::Vec<Words> ranks) {
  return hn::GetLane(hn::MaxOfLanes(Words(), ranks));
}

// The higher one of two pairs of lanes: ranks of even lanes in lane 0, of odd lanes in lane 1.
HWY_INLINE hn::Vec<FourWords> higher_pair(hn::Vec<Words> ranks) {
  const auto four = higher_half(ranks);
  return hn::Max(four, hn::Shuffle1032(four));
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
