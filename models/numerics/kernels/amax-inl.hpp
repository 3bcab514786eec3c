// Amax of the scale groups of a piece.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_AMAX_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_AMAX_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_AMAX_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_AMAX_INL_HPP_
#endif

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>

#include <hwy/highway.h>

#include "models/numerics/kernels/kernels.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

// The bit patterns of non-negative floats are ordered like their values, with NaN above Inf: an
// integer maximum therefore preserves NaN.
HWY_INLINE std::int32_t magnitude_bits(float value) {
  return std::bit_cast<std::int32_t>(value) & kMagnitudeMask;
}
HWY_INLINE hn::Vec<Ints> magnitude_bits(Vector values) {
  return hn::And(hn::BitCast(Ints(), values), hn::Set(Ints(), kMagnitudeMask));
}

HWY_INLINE float larger(float amax, float value) {
  return std::bit_cast<float>(std::max(magnitude_bits(amax), magnitude_bits(value)));
}
HWY_INLINE Vector larger(Vector amax, Vector values) {
  return hn::BitCast(Floats(), hn::Max(magnitude_bits(amax), magnitude_bits(values)));
}

// Returns the largest lane of magnitudes.
HWY_INLINE float most_of(Vector magnitudes) {
  const auto most = hn::MaxOfLanes(Ints(), hn::BitCast(Ints(), magnitudes));
  return std::bit_cast<float>(hn::GetLane(most));
}

#if HWY_TARGET != HWY_SCALAR
// Largest lane of each of four vectors of magnitudes, in the first four lanes of the result. The
// maximum of two interleaved vectors halves both at once, which is cheaper than reducing each
// alone.
using Quad = hn::CappedTag<float, 4>;
HWY_INLINE hn::Vec<Quad> larger_half(hn::Vec<Quad> four) { return four; }
template <class V>
HWY_INLINE hn::Vec<Quad> larger_half(V vector) {
  const hn::Half<hn::DFromV<V>> half;
  const hn::Repartition<std::int32_t, decltype(half)> bits;
  const auto low = hn::BitCast(bits, hn::LowerHalf(half, vector));
  const auto high = hn::BitCast(bits, hn::UpperHalf(half, vector));
  return larger_half(hn::BitCast(half, hn::Max(low, high)));
}
template <class D>
HWY_INLINE Vector larger_of_interleaved(D d, Vector a, Vector b) {
  const auto low = hn::InterleaveLower(d, hn::BitCast(d, a), hn::BitCast(d, b));
  const auto high = hn::InterleaveUpper(d, hn::BitCast(d, a), hn::BitCast(d, b));
  return hn::BitCast(Floats(), hn::Max(hn::BitCast(Ints(), low), hn::BitCast(Ints(), high)));
}
HWY_INLINE hn::Vec<Quad> most_of_four(Vector a, Vector b, Vector c, Vector d) {
  const hn::Repartition<std::uint64_t, Floats> pairs;
  const Vector ab = larger_of_interleaved(Words(), a, b);
  const Vector cd = larger_of_interleaved(Words(), c, d);
  return larger_half(larger_of_interleaved(pairs, ab, cd));
}
// Raises four consecutive amax.
HWY_INLINE void raise_four(hn::Vec<Quad> most, float* amax) {
  const hn::Repartition<std::int32_t, Quad> bits;
  const auto before = hn::BitCast(bits, hn::LoadU(Quad(), amax));
  const auto kept = hn::And(before, hn::Set(bits, kMagnitudeMask));
  hn::StoreU(hn::BitCast(Quad(), hn::Max(kept, hn::BitCast(bits, most))), Quad(), amax);
}
#endif

// Amax of a run: per lane if strided (LaneMaxima), else over all elements (SharedMaximum).
class LaneMaxima {
 public:
  HWY_INLINE LaneMaxima(float* amax, std::size_t lane) : amax_(amax + lane) {}
  HWY_INLINE void raise(Vector values, std::size_t i) {
    store(larger(load(amax_ + i), values), amax_ + i);
  }
  HWY_INLINE void raise(float value, std::size_t i) { amax_[i] = larger(amax_[i], value); }
  HWY_INLINE void finish() {}

 private:
  float* amax_;
};
class SharedMaximum {
 public:
  HWY_INLINE SharedMaximum(float* amax, std::size_t group)
      : amax_(amax + group), one_(*amax_), many_(hn::Zero(Floats())) {}
  HWY_INLINE void raise(Vector values, std::size_t) { many_ = larger(many_, values); }
  HWY_INLINE void raise(float value, std::size_t) { one_ = larger(one_, value); }
  HWY_INLINE void finish() { *amax_ = larger(one_, most_of(many_)); }

 private:
  float* amax_;
  float one_;
  Vector many_;
};
struct NoMaximum {
  HWY_INLINE NoMaximum(float*, std::size_t) {}
  template <class T>
  HWY_INLINE void raise(T, std::size_t) {}
  HWY_INLINE void finish() {}
};

// Amax accumulator of runs with these scales.
template <class Scales>
using MaximumOf = std::conditional_t<
    std::is_same_v<Scales, LaneScales>, LaneMaxima,
    std::conditional_t<std::is_same_v<Scales, SharedScale>, SharedMaximum, NoMaximum>>;

template <class Maximum>
HWY_INLINE void raise_run(const float* values, std::size_t count, Maximum maximum) {
  std::size_t i = 0;
  for (; i + lanes() <= count; i += lanes()) maximum.raise(load(values + i), i);
  for (; i < count; ++i) maximum.raise(values[i], i);
  maximum.finish();
}

template <class Scales>
HWY_INLINE void raise_groups(const Piece& piece, std::span<const float> values, float* amax) {
  visit_groups(piece, values.size(), [&](std::size_t done, std::size_t length, std::size_t group) {
    raise_run(values.data() + done, length, MaximumOf<Scales>(amax, group));
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
