#include "models/numerics/kernels/reciprocal_codes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "models/numerics/elements/element_codecs.hpp"

// foreach_target.h re-includes this file once per instruction set. The -inl headers follow it, so
// that they are compiled for each instruction set too.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/numerics/kernels/reciprocal_codes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "models/numerics/kernels/codes-inl.hpp"
#include "models/numerics/kernels/extrema-inl.hpp"
#include "models/numerics/kernels/half-inl.hpp"
#include "models/numerics/kernels/lane_counts-inl.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"
#include "models/numerics/kernels/packing-inl.hpp"
#include "models/numerics/kernels/partial-inl.hpp"
#include "models/numerics/kernels/stochastic-inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels::HWY_NAMESPACE {
namespace {

// Elements whose codes are held at once: whole bytes for any width.
constexpr std::size_t kChunk = kDrawn;

// Codes are -half_range() .. half_range() - 1.
HWY_INLINE float half_range(const Piece& piece) {
  return piece.format.element == ElementFormat::int8 ? 128.0F : 8.0F;
}

// Rounding of scaled values to whole numbers, and the type of values, by rule.
struct ZeroPp {
  HWY_INLINE ZeroPp(const RoundingKey&, std::size_t) {}

  HWY_INLINE static Vector stored(Vector values) { return rounded_halves(values); }
  // The amax has 11 significant bits, so the 24-bit scale determines it, and the factor, exactly.
  HWY_INLINE static float factor(float half_range, float scale) {
    const float amax = round_to_fp16(half_range * scale);
    return amax == 0.0F ? 1.0F : half_range / amax;
  }
  HWY_INLINE Vector whole(Vector scaled, std::size_t) const { return hn::Round(scaled); }
};
class Sdp4Bit {
 public:
  HWY_INLINE Sdp4Bit(const RoundingKey& key, std::size_t count) : words_(key, count) {}

  HWY_INLINE static Vector stored(Vector values) { return values; }
  HWY_INLINE static float factor(float /*half_range*/, float scale) {
    return std::min(1.0F / scale, std::numeric_limits<float>::max());  // for subnormal scales
  }
  // Infinite values stay: their difference is NaN.
  HWY_INLINE Vector whole(Vector scaled, std::size_t element) const {
    const Vector below = hn::Floor(scaled);
    const auto up = hn::Lt(units_of(words_.from(element)), hn::Sub(scaled, below));
    return hn::Add(below, hn::IfThenElseZero(up, hn::Set(Floats(), 1.0F)));
  }

 private:
  RoundingWords words_;
};

HWY_INLINE Vector clamped(Vector whole, float half_range) {
  const Vector within = hn::Max(without_nan(whole), hn::Set(Floats(), -half_range));
  return hn::Min(within, hn::Set(Floats(), half_range - 1.0F));
}

// Calls act(first element, number, whole numbers, scale) for each vector of the values.
template <class Rule, class Act>
HWY_INLINE void for_each_whole(const Piece& piece, std::span<const float> values, Act act) {
  const Rule rule(piece.key, values.size());
  const float range = half_range(piece);
  visit_groups(
      piece, values.size(), [&](std::size_t done, std::size_t length, std::size_t group) HWY_ATTR {
        const float scale = piece.scales[group];
        const Vector factor = hn::Set(Floats(), Rule::factor(range, scale));
        for_each_vector(done, done + length, [&](std::size_t i, std::size_t count) HWY_ATTR {
          const Vector stored = Rule::stored(load_some(values.data() + i, count));
          act(i, count, rule.whole(hn::Mul(stored, factor), i), scale);
        });
      });
}

// Adds counts of a vector with `count` elements.
template <class Rule>
HWY_INLINE void count_some(Vector values, Vector whole, std::size_t count, float range, float scale,
                           LaneCounts& counts) {
  const Vector zero = hn::Zero(Floats());
  const Vector most = hn::Set(Floats(), std::numeric_limits<float>::max());
  const auto real = hn::RebindMask(Floats(), first_lanes(count));
  const Vector decoded = Rule::stored(hn::Mul(clamped(whole, range), hn::Set(Floats(), scale)));
  const auto clips =
      hn::Or(hn::Lt(whole, hn::Set(Floats(), -range)), hn::Ge(whole, hn::Set(Floats(), range)));
  const auto flushed = hn::AndNot(hn::Eq(values, zero), hn::Eq(decoded, zero));
  add_mask(counts.clipped, hn::And(real, clips));
  add_mask(counts.flushed, hn::And(real, flushed));
  add_mask(counts.non_finite, hn::AndNot(hn::Le(hn::Abs(decoded), most), real));
}

template <class Rule, class Counts>
void quantize_chunk(const Piece& piece, std::span<const float> values, std::byte* codes,
                    Counts& counts) {
  // Bits of shifted numbers are ordered like the numbers.
  const float half = half_range(piece);
  const auto range = static_cast<std::int32_t>(half);
  const auto zero = std::bit_cast<std::int32_t>(kAligned);
  const auto least = hn::Set(Ints(), zero - range);
  const auto most = hn::Set(Ints(), zero + range - 1);
  const Vector aligned = hn::Set(Floats(), kAligned);
  for_each_whole<Rule>(
      piece, values, [&](std::size_t i, std::size_t count, Vector whole, float scale) HWY_ATTR {
        const auto bits = hn::BitCast(Ints(), hn::Add(without_nan(whole), aligned));
        const auto code = hn::BitCast(Words(), hn::Min(hn::Max(bits, least), most));
        store_some(codes + i, count,
                   [&](std::byte* to) HWY_ATTR { store_codes<Int8Element>(code, to); });
        if constexpr (std::is_same_v<Counts, LaneCounts>)
          count_some<Rule>(load_some(values.data() + i, count), whole, count, half, scale, counts);
      });
}

// `counts` may be null.
template <class Rule>
void quantize_all(const Piece& piece, std::span<const float> values, std::byte* payload,
                  QuantizeCounts* counts) {
  const bool packs = piece.format.element == ElementFormat::int4;
  const std::size_t bytes = payload_bytes(piece.format, values.size());
  in_chunks(piece, values.size(), kChunk,
            [&](const Piece& part, std::size_t done, std::size_t length) {
              const std::span<const float> from = values.subspan(done, length);
              std::array<std::byte, kChunk> unpacked;
              std::byte* codes = packs ? unpacked.data() : payload + done;
              if (counts == nullptr) {
                NoCounts none;
                quantize_chunk<Rule>(part, from, codes, none);
              } else {
                LaneCounts many;
                quantize_chunk<Rule>(part, from, codes, many);
                many.add_to(*counts);
              }
              if (packs) pack<Int4Element>(codes, length, payload + done / 2, bytes - done / 2);
            });
}

void Quantize(const Piece& piece, std::span<const float> values, std::byte* payload,
              QuantizeCounts* counts) {
  if (counts != nullptr) counts->elements += values.size();
  if (piece.format.rule == ScaleRule::zeropp)
    quantize_all<ZeroPp>(piece, values, payload, counts);
  else
    quantize_all<Sdp4Bit>(piece, values, payload, counts);
}

template <class Rule>
void count_all(const Piece& piece, std::span<const float> values, QuantizeCounts& counts) {
  const float range = half_range(piece);
  in_chunks(
      piece, values.size(), kChunk, [&](const Piece& part, std::size_t done, std::size_t length) {
        LaneCounts many;
        const std::span<const float> from = values.subspan(done, length);
        for_each_whole<Rule>(
            part, from, [&](std::size_t i, std::size_t count, Vector whole, float scale) HWY_ATTR {
              count_some<Rule>(load_some(from.data() + i, count), whole, count, range, scale, many);
            });
        many.add_to(counts);
      });
}

QuantizeCounts Count(const Piece& piece, std::span<const float> values) {
  QuantizeCounts counts{.elements = values.size()};
  if (piece.format.rule == ScaleRule::zeropp)
    count_all<ZeroPp>(piece, values, counts);
  else
    count_all<Sdp4Bit>(piece, values, counts);
  return counts;
}

void FindHalfAmax(const Piece& piece, std::span<const float> values, float* amax) {
  visit_groups(piece, values.size(),
               [&](std::size_t done, std::size_t length, std::size_t group) HWY_ATTR {
                 auto most = hn::Zero(Words());
                 for_each_vector(done, done + length, [&](std::size_t i, std::size_t n) HWY_ATTR {
                   const Vector halves = rounded_halves(load_some(values.data() + i, n));
                   const auto ranks = ranks_of<Signs::dropped>(halves);
                   most = hn::Max(most, hn::IfThenElseZero(first_lanes(n), ranks));
                 });
                 raise_extremum(highest_rank(most), amax + group);
               });
}

// Calls act(first element, number, decoded values) for vectors of a group, and finish(group) at its
// end.
template <class Act, class Finish>
HWY_INLINE void for_each_decoded(const Piece& piece, const std::byte* payload, std::size_t count,
                                 Act act, Finish finish) {
  const bool packed = piece.format.element == ElementFormat::int4;
  const std::size_t bytes = payload_bytes(piece.format, count);
  in_chunks(piece, count, kChunk, [&](const Piece& part, std::size_t before, std::size_t length) {
    std::array<std::byte, kChunk> unpacked;
    const std::byte* codes = packed ? unpacked.data() : payload + before;
    if (packed)
      unpack<Int4Element>(payload + before / 2, bytes - before / 2, length, unpacked.data());
    visit_groups(part, length, [&](std::size_t done, std::size_t run, std::size_t group) HWY_ATTR {
      const Vector scale = hn::Set(Floats(), piece.scales[group]);
      for_each_vector(done, done + run, [&](std::size_t i, std::size_t n) HWY_ATTR {
        const Vector numbers = load_some(codes + i, n, [](const std::byte* from) HWY_ATTR {
          return load_decoded<Int8Element>(from);
        });
        act(before + i, n, rounded_halves(hn::Mul(numbers, scale)));
      });
      finish(group);
    });
  });
}

void DequantizeHalves(const Piece& piece, const std::byte* payload, std::span<float> values) {
  for_each_decoded(
      piece, payload, values.size(),
      [&](std::size_t i, std::size_t n, Vector decoded)
          HWY_ATTR { store_some(decoded, values.data() + i, n); },
      [](std::size_t) {});
}

template <bool kFindsAmax>
void add_halves(const Piece& piece, const std::byte* payload, const float* local,
                std::span<float> sums, float* amax) {
  auto most = hn::Zero(Words());
  for_each_decoded(
      piece, payload, sums.size(),
      [&](std::size_t i, std::size_t n, Vector decoded) HWY_ATTR {
        const Vector own = rounded_halves(load_some(local + i, n));
        const Vector sum = rounded_halves(hn::Add(own, decoded));
        store_some(sum, sums.data() + i, n);
        if constexpr (kFindsAmax) {
          const auto ranks = ranks_of<Signs::dropped>(sum);
          most = hn::Max(most, hn::IfThenElseZero(first_lanes(n), ranks));
        }
      },
      [&](std::size_t group) HWY_ATTR {
        if constexpr (!kFindsAmax) return;
        raise_extremum(highest_rank(most), amax + group);
        most = hn::Zero(Words());
      });
}

void DequantizeAddHalves(const Piece& piece, const std::byte* payload, const float* local,
                         std::span<float> sums, float* amax) {
  if (amax == nullptr)
    add_halves<false>(piece, payload, local, sums, amax);
  else
    add_halves<true>(piece, payload, local, sums, amax);
}

}  // namespace
}  // namespace equarx::numerics::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace equarx::numerics::kernels {

namespace {
HWY_EXPORT(Quantize);
HWY_EXPORT(Count);
HWY_EXPORT(FindHalfAmax);
HWY_EXPORT(DequantizeHalves);
HWY_EXPORT(DequantizeAddHalves);
}  // namespace

namespace reciprocal {

void quantize(const Piece& piece, std::span<const float> values, std::byte* payload,
              QuantizeCounts* counts) {
  HWY_DYNAMIC_DISPATCH(Quantize)(piece, values, payload, counts);
}

QuantizeCounts count(const Piece& piece, std::span<const float> values) {
  return HWY_DYNAMIC_DISPATCH(Count)(piece, values);
}

void find_half_amax(const Piece& piece, std::span<const float> values, float* amax) {
  HWY_DYNAMIC_DISPATCH(FindHalfAmax)(piece, values, amax);
}

void dequantize_halves(const Piece& piece, const std::byte* payload, std::span<float> values) {
  HWY_DYNAMIC_DISPATCH(DequantizeHalves)(piece, payload, values);
}

void dequantize_add_halves(const Piece& piece, const std::byte* payload, const float* local,
                           std::span<float> sums, float* amax) {
  HWY_DYNAMIC_DISPATCH(DequantizeAddHalves)(piece, payload, local, sums, amax);
}

}  // namespace reciprocal
}  // namespace equarx::numerics::kernels
#endif
