// Counts of clipped, flushed and non-finite elements of a quantization.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_COUNTS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_COUNTS_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_COUNTS_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_COUNTS_INL_HPP_
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include <hwy/highway.h>

#include "models/numerics/kernels/blocks-inl.hpp"
#include "models/numerics/kernels/codes-inl.hpp"
#include "models/numerics/kernels/kernels.hpp"
#include "models/numerics/kernels/lane_counts-inl.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"
#include "models/numerics/kernels/quantize_counts.hpp"
#include "models/numerics/kernels/stochastic-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class Element>
HWY_INLINE void count_decoded(float value, float ratio, float decoded, bool plain,
                              QuantizeCounts& counts) {
  // Without a scale, a format without NaN or Inf would lose them silently.
  const bool lost = plain && !std::isfinite(value);
  counts.clipped += std::isfinite(ratio) && std::abs(ratio) >= Element::kClipThreshold;
  counts.flushed += value != 0.0F && decoded == 0.0F && !lost;
  counts.non_finite += lost || !std::isfinite(decoded);
}

// Encode and decode ratios, without the scale: a vector starting at element i of a run, or one
// element.
struct Nearest {
  template <class Element>
  HWY_INLINE Vector decoded(Vector ratios, std::size_t) const {
    return through_codes<Element>(ratios);
  }
  template <class Element>
  HWY_INLINE float decoded(float ratio, std::size_t) const {
    return Element::decode(Element::encode(ratio));
  }
};
struct Random {
  const std::uint32_t* words;  // one per element of the run
  template <class Element>
  HWY_INLINE Vector decoded(Vector ratios, std::size_t i) const {
    const auto codes = encode_randomly<Element>(ratios, words + i);
    if constexpr (!Element::kInteger) {
      return decode_small<Element>(codes);
    } else {
      const Vector numbers = hn::Sub(hn::BitCast(Floats(), codes), hn::Set(Floats(), kAligned));
      return hn::Mul(numbers, hn::Set(Floats(), 1.0F / Element::kCodesPerUnit));
    }
  }
  template <class Element>
  HWY_INLINE float decoded(float ratio, std::size_t i) const {
    return Element::decode(Element::encode_stochastic(ratio, words[i]));
  }
};

template <class Element, class Scales, class Rounder>
HWY_INLINE void count_one(float value, const Scales& scales, std::size_t i, Rounder rounder,
                          QuantizeCounts& counts) {
  const float ratio = quotient(value, scales, i);
  const float decoded = product(rounder.template decoded<Element>(ratio, i), scales, i);
  count_decoded<Element>(value, ratio, decoded, std::is_same_v<Scales, NoScale>, counts);
}

template <class Element, class Scales, class Rounder>
HWY_INLINE void count_many(Vector values, const Scales& scales, std::size_t i, Rounder rounder,
                           LaneCounts& counts) {
  constexpr bool kPlain = std::is_same_v<Scales, NoScale>;
  const Vector zero = hn::Zero(Floats());
  const Vector most = hn::Set(Floats(), std::numeric_limits<float>::max());
  const Vector ratios = quotients(values, scales, i);
  const Vector sizes = hn::Abs(ratios);
  // Plain integers encode NaN as 0.
  const Vector numbers = Element::kInteger && kPlain ? without_nan(ratios) : ratios;
  const Vector decoded = products(rounder.template decoded<Element>(numbers, i), scales, i);
  const auto clips = hn::Ge(sizes, hn::Set(Floats(), Element::kClipThreshold));
  add_mask(counts.clipped, hn::And(clips, hn::Le(sizes, most)));
  // Not Ne(), which is false for NaN on some instruction sets.
  auto flushed = hn::AndNot(hn::Eq(values, zero), hn::Eq(decoded, zero));
  auto finite = hn::Le(hn::Abs(decoded), most);
  if constexpr (kPlain) {
    const auto was_finite = hn::Le(hn::Abs(values), most);
    flushed = hn::And(flushed, was_finite);
    finite = hn::And(finite, was_finite);
  }
  add_mask(counts.flushed, flushed);
  add_mask(counts.non_finite, hn::Not(finite));
}

// Fast path for scaled integers, which rarely need any count but flushes. Returns false, without
// counting, if any element needs another count.
template <class Element, class Scales>
HWY_INLINE bool count_flushed(Vector values, const Scales& scales, std::size_t i,
                              LaneCounts& counts) {
  const Vector zero = hn::Zero(Floats());
  const Vector aligned = hn::Set(Floats(), kAligned / Element::kCodesPerUnit);
  const Vector ratios = hn::Div(values, scales.many(i));
  const Vector decoded = products(hn::Sub(hn::Add(ratios, aligned), aligned), scales, i);
  const auto within = hn::Lt(hn::Abs(ratios), hn::Set(Floats(), Element::kClipThreshold));
  const auto finite =
      hn::Le(hn::Abs(decoded), hn::Set(Floats(), std::numeric_limits<float>::max()));
  if (HWY_UNLIKELY(!hn::AllTrue(Floats(), hn::And(within, finite)))) return false;
  add_mask(counts.flushed, hn::AndNot(hn::Eq(values, zero), hn::Eq(decoded, zero)));
  return true;
}

template <class Element, class Scales, class Rounder>
HWY_INLINE void count_run(const float* values, std::size_t count, const Scales& scales,
                          Rounder rounder, QuantizeCounts& counts) {
  constexpr bool kMostlyFlushed =
      Element::kInteger && !std::is_same_v<Scales, NoScale> && std::is_same_v<Rounder, Nearest>;
  std::size_t i = 0;
  while (i + lanes() <= count) {
    LaneCounts many;
    const std::size_t end = std::min(count, i + kMostCounted);
    for (; i + lanes() <= end; i += lanes()) {
      const Vector here = load(values + i);
      if constexpr (kMostlyFlushed) {
        if (count_flushed<Element>(here, scales, i, many)) continue;
      }
      count_many<Element>(here, scales, i, rounder, many);
    }
    many.add_to(counts);
  }
  for (; i < count; ++i) count_one<Element>(values[i], scales, i, rounder, counts);
}

// Counts over whole blocks, which are too short for separate sums.
template <class Element>
HWY_INLINE void count_blocks(const float* values, std::size_t blocks, std::size_t block,
                             const float* scales, QuantizeCounts& counts) {
  const std::size_t most = std::max<std::size_t>(1, kMostCounted / block);
  for (std::size_t done = 0; done < blocks; done += most) {
    LaneCounts many;
    for (std::size_t b = done; b < std::min(blocks, done + most); ++b) {
      const SharedScale scale{scales[b]};
      for (std::size_t i = b * block; i < (b + 1) * block; i += lanes()) {
        const Vector here = load(values + i);
        if constexpr (Element::kInteger) {
          if (count_flushed<Element>(here, scale, i, many)) continue;
        }
        count_many<Element>(here, scale, i, Nearest{}, many);
      }
    }
    many.add_to(counts);
  }
}

template <class Element>
void count_nearest(const Piece& piece, std::span<const float> values, QuantizeCounts& counts) {
  split_blocks(
      piece, values.size(),
      [&](std::size_t done, std::size_t blocks, std::size_t first) {
        count_blocks<Element>(values.data() + done, blocks, piece.format.block,
                              piece.scales + first, counts);
      },
      [&](const Piece& part, std::size_t before, std::size_t count) {
        visit_scales(
            part, count, [&](std::size_t done, std::size_t length, std::size_t, auto scales) {
              count_run<Element>(values.data() + before + done, length, scales, Nearest{}, counts);
            });
      });
}

template <Stochastic Element>
void count_random(const Piece& piece, std::span<const float> values, QuantizeCounts& counts) {
  in_chunks(piece, values.size(), kDrawn,
            [&](const Piece& part, std::size_t before, std::size_t count) {
              const RoundingWords words(part.key, count);
              visit_scales(part, count,
                           [&](std::size_t done, std::size_t length, std::size_t, auto scales) {
                             count_run<Element>(values.data() + before + done, length, scales,
                                                Random{words.from(done)}, counts);
                           });
            });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
