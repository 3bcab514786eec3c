// Vectors of floats, sources of the scales of a run of elements, and the division of a piece into
// runs. Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_LANES_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_LANES_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_LANES_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_LANES_INL_HPP_
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "models/numerics/kernels/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Ints = hn::RebindToSigned<Floats>;
using Words = hn::RebindToUnsigned<Floats>;
using SignedBytes = hn::Rebind<std::int8_t, Floats>;
using UnsignedBytes = hn::Rebind<std::uint8_t, Floats>;
using Halves = hn::Rebind<std::uint16_t, Floats>;
using Vector = hn::Vec<Floats>;

constexpr std::int32_t kMagnitudeMask = 0x7fffffff;
// At 1.5 x 2^23 the last mantissa bit equals 1, so adding this number rounds to nearest even.
constexpr float kAligned = 0x1.8p23F;

HWY_INLINE Vector load(const float* from) { return hn::LoadU(Floats(), from); }
HWY_INLINE void store(Vector vector, float* to) { hn::StoreU(vector, Floats(), to); }
HWY_INLINE std::size_t lanes() { return hn::Lanes(Floats()); }

// The lowest byte of each lane.
HWY_INLINE hn::Vec<UnsignedBytes> lowest_bytes(hn::Vec<Words> words) {
#if HWY_TARGET == HWY_AVX3 && HWY_CAP_GE512
  return {_mm512_cvtepi32_epi8(words.raw)};  // TruncateTo() takes two shuffles
#else
  return hn::TruncateTo(UnsignedBytes(), words);
#endif
}

// Sources of the scale of the i-th element of a run. A run extends as far as a single source
// applies.
struct LaneScales {  // strided: consecutive elements have consecutive scales
  const float* scales;
  HWY_INLINE float one(std::size_t i) const { return scales[i]; }
  HWY_INLINE Vector many(std::size_t i) const { return load(scales + i); }
  HWY_INLINE LaneScales from(std::size_t i) const { return {scales + i}; }
};
struct SharedScale {  // contiguous: one scale for the whole run
  float scale;
  HWY_INLINE float one(std::size_t) const { return scale; }
  HWY_INLINE Vector many(std::size_t) const { return hn::Set(Floats(), scale); }
  HWY_INLINE SharedScale from(std::size_t) const { return *this; }
};
struct NoScale {};

// True for powers of two that are normal and whose inverses are normal.
HWY_INLINE bool is_invertible(float scale) {
  const auto bits = std::bit_cast<std::uint32_t>(scale);
  constexpr std::uint32_t kMantissa = 0x007fffffU;
  constexpr std::uint32_t kOneBinade = kMantissa + 1;
  constexpr std::uint32_t kLargest = 0x7e800000U;  // 2^126
  return (bits & kMantissa) == 0 && bits - kOneBinade <= kLargest - kOneBinade;
}
// An invertible shared scale: multiplying by its inverse gives the same bits as dividing.
struct InvertibleScale {
  HWY_INLINE explicit InvertibleScale(SharedScale shared)
      : inverse(
            std::bit_cast<float>(kBitsOfInverses - std::bit_cast<std::uint32_t>(shared.scale))) {}
  // Sum of the bit patterns of 2^e and 2^-e, for any e.
  static constexpr std::uint32_t kBitsOfInverses = 0x7f000000U;
  float inverse;
};

HWY_INLINE Vector without_nan(Vector values) {
  return hn::IfThenElseZero(hn::Eq(values, values), values);
}

template <class Scales>
HWY_INLINE float quotient(float value, const Scales& scales, std::size_t i) {
  const float ratio = value / scales.one(i);
  return ratio == ratio ? ratio : 0.0F;
}
HWY_INLINE float quotient(float value, NoScale, std::size_t) { return value; }

template <class Scales>
HWY_INLINE Vector quotients(Vector values, const Scales& scales, std::size_t i) {
  return without_nan(hn::Div(values, scales.many(i)));
}
HWY_INLINE Vector quotients(Vector values, const InvertibleScale& scale, std::size_t) {
  return without_nan(hn::Mul(values, hn::Set(Floats(), scale.inverse)));
}
HWY_INLINE Vector quotients(Vector values, NoScale, std::size_t) { return values; }

template <class Scales>
HWY_INLINE float product(float value, const Scales& scales, std::size_t i) {
  return value * scales.one(i);
}
HWY_INLINE float product(float value, NoScale, std::size_t) { return value; }

template <class Scales>
HWY_INLINE Vector products(Vector values, const Scales& scales, std::size_t i) {
  return hn::Mul(values, scales.many(i));
}
HWY_INLINE Vector products(Vector values, NoScale, std::size_t) { return values; }

// Calls visit(offset, length, group) for each run of elements within one register (strided; `group`
// is the group of the first element) or one block (contiguous).
template <class Visit>
HWY_INLINE void visit_groups(const Piece& piece, std::size_t count, Visit visit) {
  const bool strided = piece.format.layout == ScaleLayout::strided;
  const std::size_t period = strided ? piece.format.columns : piece.format.block;
  std::size_t within = piece.first % period;
  std::size_t block = piece.first / period;
  for (std::size_t done = 0; done < count; within = 0, ++block) {
    const std::size_t length = std::min(period - within, count - done);
    visit(done, length, strided ? within : block);
    done += length;
  }
}

// Like visit_groups(), but calls visit(offset, length, group, scales).
template <class Visit>
HWY_INLINE void visit_scales(const Piece& piece, std::size_t count, Visit visit) {
  if (!piece.format.scaled) {
    visit(std::size_t{0}, count, std::size_t{0}, NoScale{});
  } else if (piece.format.layout == ScaleLayout::strided) {
    visit_groups(piece, count, [&](std::size_t done, std::size_t length, std::size_t lane) {
      visit(done, length, lane, LaneScales{piece.scales + lane});
    });
  } else {
    visit_groups(piece, count, [&](std::size_t done, std::size_t length, std::size_t block) {
      visit(done, length, block, SharedScale{piece.scales[block]});
    });
  }
}

HWY_INLINE bool is_strided(const BlockFormat& format) {
  return format.scaled && format.layout == ScaleLayout::strided;
}

// Calls act(piece, offset, length) for pieces of at most `longest` elements.
template <class Act>
HWY_INLINE void in_chunks(const Piece& piece, std::size_t count, std::size_t longest, Act act) {
  Piece part = piece;
  for (std::size_t done = 0; done < count; done += longest) {
    part.first = piece.first + done;
    part.key.first_element = piece.key.first_element + done;
    act(part, done, std::min(longest, count - done));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
