#include "models/numerics/kernels/paired_codes.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "models/numerics/elements/element_codecs.hpp"

// foreach_target.h re-includes this file once per instruction set. The -inl headers follow it, so
// that they are compiled for each instruction set too.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/numerics/kernels/paired_codes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "models/numerics/kernels/codes-inl.hpp"
#include "models/numerics/kernels/extrema-inl.hpp"
#include "models/numerics/kernels/half-inl.hpp"
#include "models/numerics/kernels/lane_counts-inl.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"
#include "models/numerics/kernels/packing-inl.hpp"
#include "models/numerics/kernels/paired_elements-inl.hpp"
#include "models/numerics/kernels/paired_ranks-inl.hpp"
#include "models/numerics/kernels/paired_runs-inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels::HWY_NAMESPACE {
namespace {

// Extrema of a whole run. Returns false if it has Inf or NaN.
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE bool find_finite_extrema(const float*, float*) { return false; }
#else
HWY_INLINE bool find_finite_extrema(const float* values, float* extrema) {
  FiniteRanks ranks;
  for (std::size_t i = 0; i < kRun; i += lanes()) ranks.raise(rounded_halves(load(values + i)));
  if (HWY_UNLIKELY(!ranks.are_finite())) return false;
  ranks.add_to(extrema);
  return true;
}
#endif

void FindExtrema(std::size_t first, std::span<const float> values, float* extrema) {
  float* const groups = extrema + first / kRun * 2;
  for_each_run(first, values.size(), [&](const RunPart& part) HWY_ATTR {
    const WholeRun run(part);
    if (!run.is_partial() &&
        find_finite_extrema(values.data() + part.offset, groups + 2 * part.run))
      return;
    FloatsOfRun room;
    const float* from = run.read(values.data(), room);
    PairRanks ranks;
    for (std::size_t i = 0; i < kRun; i += lanes())
      ranks.raise(covered_ranks(run, rounded_halves(load(from + i)), i), i);
    ranks.add_to(groups + 2 * part.run);
  });
}

template <class Codes>
void encode_all_scales(std::span<const float> extrema, std::byte* bytes) {
  constexpr std::size_t kBytes = sizeof(Fp16Element::Code);
  std::array<float, hn::MaxLanes(Floats())> room{};
  std::array<std::byte, hn::MaxLanes(Floats()) * kBytes> stored;
  for (std::size_t i = 0; i < extrema.size(); i += lanes()) {
    const std::size_t count = std::min(lanes(), extrema.size() - i);
    std::copy_n(extrema.data() + i, count, room.data());
    const Vector scale = saturated_halves(Codes::scale(rounded_halves(load(room.data()))));
    store_encoded<Fp16Element>(scale, stored.data());
    std::copy_n(stored.data(), count * kBytes, bytes + i * kBytes);
  }
}

void EncodeScales(ElementFormat element, std::span<const float> extrema, std::byte* bytes) {
  with_codes(element, [&](auto codes) { encode_all_scales<decltype(codes)>(extrema, bytes); });
}

void DecodeScales(const std::byte* bytes, std::span<float> scales) {
  constexpr std::size_t kBytes = sizeof(Fp16Element::Code);
  std::size_t i = 0;
  for (; i + lanes() <= scales.size(); i += lanes())
    store(load_decoded<Fp16Element>(bytes + i * kBytes), scales.data() + i);
  for (; i < scales.size(); ++i) scales[i] = load_code<Fp16Element>(bytes + i * kBytes);
}

template <class Codes>
HWY_INLINE Vector scaled_halves(const float* values, const Pair& factors, std::size_t i) {
  return Codes::product(rounded_halves(load(values + i)), factors.many(i));
}

template <class Codes, bool kPartial>
HWY_INLINE void count_lanes(const WholeRun& run, Vector scaled, Vector halves, Vector scales,
                            std::size_t i, QuantizeCounts& counts) {
  const Vector zero = hn::Zero(Floats());
  const Vector most = hn::Set(Floats(), std::numeric_limits<float>::max());
  const Vector decoded = saturated_halves(hn::Mul(Codes::through(scaled), scales));
  const auto number = [&](hn::Mask<Floats> mask) HWY_ATTR {
    if constexpr (kPartial) mask = hn::And(hn::RebindMask(Floats(), run.covered(i)), mask);
    return hn::CountTrue(Floats(), mask);
  };
  counts.clipped += number(hn::And(hn::Le(hn::Abs(halves), most), Codes::clips(scaled)));
  counts.flushed += number(hn::AndNot(hn::Eq(halves, zero), hn::Eq(decoded, zero)));
  counts.non_finite += number(hn::Not(hn::Le(hn::Abs(decoded), most)));
}

template <class Codes, bool kPartial>
HWY_INLINE void count_lanes_of(const WholeRun& run, const float* values, const Pair& factors,
                               const Pair& scales, QuantizeCounts& counts) {
  for (std::size_t i = 0; i < kRun; i += lanes()) {
    const Vector halves = rounded_halves(load(values + i));
    const Vector scaled = Codes::product(halves, factors.many(i));
    count_lanes<Codes, kPartial>(run, scaled, halves, scales.many(i), i, counts);
  }
}

// Counts of any run, under any scales.
template <class Codes>
HWY_NOINLINE void count_run(const WholeRun& run, const float* values, const Pair& factors,
                            const Pair& scales, QuantizeCounts& counts) {
  if (run.is_partial())
    count_lanes_of<Codes, true>(run, values, factors, scales, counts);
  else
    count_lanes_of<Codes, false>(run, values, factors, scales, counts);
}

// Counts of codes that keep their values: only code 0 decodes as 0, and only Inf and NaN, if they
// have codes, decode as such. Products that overflow are clipped like others.
template <class Codes>
HWY_INLINE void count_ordinary(Vector halves, Vector scaled, QuantizeCounts& counts) {
  const Vector zero = hn::Zero(Floats());
  const auto finite = hn::Le(hn::Abs(halves), hn::Set(Floats(), std::numeric_limits<float>::max()));
  const auto flushed = hn::AndNot(hn::Eq(halves, zero), Codes::flushes(scaled));
  counts.clipped += hn::CountTrue(Floats(), hn::And(finite, Codes::clips(scaled)));
  counts.flushed += hn::CountTrue(Floats(), flushed);
  if constexpr (Codes::kHasNan) counts.non_finite += hn::CountTrue(Floats(), hn::Not(finite));
}

// Codes of a whole run, and their counts under ordinary scales. Returns false, without counts, if a
// product is Inf, which may be an overflow, or NaN; codes that cannot be either are final.
#if HWY_TARGET == HWY_SCALAR
template <class Codes, class Counts>
HWY_INLINE bool quantize_finite_run(const float*, const Pair&, std::byte*, Counts&) {
  return false;
}
#else
template <class Codes, class Counts>
HWY_INLINE bool quantize_finite_run(const float* values, const Pair& factors, std::byte* codes,
                                    Counts& counts) {
  constexpr bool kCounts = std::is_same_v<Counts, QuantizeCounts>;
  const auto infinity = hn::Set(Ints(), kInfinityBits);
  auto most = hn::Zero(Ints());
  QuantizeCounts sums;
  for (std::size_t i = 0; i < kRun; i += lanes()) {
    const Vector halves = rounded_halves(load(values + i));
    const Vector scaled = rounded_halves(hn::Mul(halves, factors.many(i)));
    if constexpr (Codes::kHasNan) most = hn::Max(most, hn::BitCast(Ints(), hn::Abs(scaled)));
    if constexpr (kCounts) count_ordinary<Codes>(halves, scaled, sums);
    store_codes<Int8Element>(Codes::encode_finite(scaled), codes + i);
  }
  if (HWY_UNLIKELY(!hn::AllTrue(Ints(), hn::Lt(most, infinity)))) return false;
  if constexpr (kCounts) counts += sums;
  return true;
}
#endif

template <class Codes>
HWY_INLINE void quantize_run(const WholeRun& run, const float* values, const Pair& factors,
                             std::byte* codes) {
  CodesOfRun coded;
  std::byte* to = run.target(codes, coded);
  for (std::size_t i = 0; i < kRun; i += lanes())
    store_codes<Int8Element>(Codes::encode(scaled_halves<Codes>(values, factors, i)), to + i);
  run.finish(coded, codes);
}

template <class Codes, class Counts>
HWY_INLINE void quantize_chunk(const Piece& piece, std::span<const float> values, std::byte* codes,
                               Counts& counts) {
  constexpr bool kCounts = std::is_same_v<Counts, QuantizeCounts>;
  const ChunkScales scales(piece, values.size());
  const ChunkScales factors = scales.factors();
  const bool ordinary = !kCounts || scales.are_ordinary();
  for_each_run(piece.first, values.size(), [&](const RunPart& part) HWY_ATTR {
    const WholeRun run(part);
    const Pair factor = factors.of(part);
    if (!run.is_partial() && (ordinary || scales.are_ordinary(part)) &&
        quantize_finite_run<Codes>(values.data() + part.offset, factor, codes + part.offset,
                                   counts))
      return;
    FloatsOfRun room;
    const float* from = run.read(values.data(), room);
    quantize_run<Codes>(run, from, factor, codes);
    if constexpr (kCounts) count_run<Codes>(run, from, factor, scales.of(part), counts);
  });
}

// `counts` may be null.
template <class Codes>
HWY_INLINE void quantize_chunk(const Piece& piece, std::span<const float> values, std::byte* codes,
                               QuantizeCounts* counts) {
  if (counts == nullptr) {
    NoCounts none;
    return quantize_chunk<Codes>(piece, values, codes, none);
  }
  quantize_chunk<Codes>(piece, values, codes, *counts);
}

template <class Codes>
void quantize_all(const Piece& piece, std::span<const float> values, std::byte* payload,
                  QuantizeCounts* counts) {
  using Element = typename Codes::Element;
  const std::size_t bytes = payload_bytes(piece.format, values.size());
  in_chunks(piece, values.size(), kChunk,
            [&](const Piece& part, std::size_t done, std::size_t length) {
              const std::span<const float> from = values.subspan(done, length);
              const std::size_t at = done * kBits<Element> / CHAR_BIT;
              if constexpr (kPacked<Element>) {
                std::array<std::byte, kChunk> codes;
                quantize_chunk<Codes>(part, from, codes.data(), counts);
                pack<Element>(codes.data(), length, payload + at, bytes - at);
              } else {
                quantize_chunk<Codes>(part, from, payload + at, counts);
              }
            });
}

void Quantize(const Piece& piece, std::span<const float> values, std::byte* payload,
              QuantizeCounts* counts) {
  if (counts != nullptr) counts->elements += values.size();
  with_codes(piece.format.element,
             [&](auto codes) { quantize_all<decltype(codes)>(piece, values, payload, counts); });
}

struct CodedChunk {
  std::size_t offset;
  bool finite;  // no product of a number and a scale overflows
};

// Calls act(part of a run, its scales, codes of the chunk, the chunk) for each run.
template <class Codes, class Act>
HWY_INLINE void for_each_coded_run(const Piece& piece, const std::byte* payload, std::size_t count,
                                   Act act) {
  using Element = typename Codes::Element;
  const std::size_t bytes = payload_bytes(piece.format, count);
  in_chunks(piece, count, kChunk, [&](const Piece& part, std::size_t done, std::size_t length) {
    const std::size_t at = done * kBits<Element> / CHAR_BIT;
    std::array<std::byte, kChunk> unpacked;
    const std::byte* codes = payload + at;
    if constexpr (kPacked<Element>) {
      unpack<Element>(payload + at, bytes - at, length, unpacked.data());
      codes = unpacked.data();
    }
    const ChunkScales scales(part, length);
    const bool finite = scales.decode_finitely(Codes::kLargest);
    for_each_run(part.first, length, [&](const RunPart& run) HWY_ATTR {
      act(run, scales.of(run), codes, CodedChunk{done, finite});
    });
  });
}

template <class Codes>
HWY_INLINE Vector decoded_halves(const std::byte* codes, const Pair& scales, std::size_t i) {
  const Vector numbers = load_decoded<typename Codes::Unpacked>(codes + i);
  return saturated_halves(hn::Mul(numbers, scales.many(i)));
}

// Values of a whole run under scales whose products are finite. Returns false, without storing any, if
// a code is NaN.
#if HWY_TARGET == HWY_SCALAR
template <class Codes>
HWY_INLINE bool dequantize_finite_run(const std::byte*, const Pair&, float*) {
  return false;
}
#else
template <class Codes>
HWY_INLINE Vector finite_halves(const std::byte* codes, const Pair& scale, std::size_t i) {
  const Vector units = hn::Mul(scale.many(i), hn::Set(Floats(), Codes::kUnit));
  return rounded_halves(hn::Mul(Codes::load_finite(codes + i), units));
}

template <class Codes>
HWY_INLINE bool dequantize_finite_run(const std::byte* codes, const Pair& scale, float* to) {
  if (HWY_UNLIKELY(Codes::has_nan(codes))) return false;
  for (std::size_t i = 0; i < kRun; i += lanes())
    store(finite_halves<Codes>(codes, scale, i), to + i);
  return true;
}
#endif

template <class Codes>
void dequantize_all(const Piece& piece, const std::byte* payload, std::span<float> values) {
  for_each_coded_run<Codes>(
      piece, payload, values.size(),
      [&](const RunPart& part, const Pair& scale, const std::byte* codes, const CodedChunk& chunk)
          HWY_ATTR {
            const WholeRun run(part);
            if (!run.is_partial() && chunk.finite &&
                dequantize_finite_run<Codes>(codes + part.offset, scale,
                                             values.data() + chunk.offset + part.offset))
              return;
            CodesOfRun coded;
            FloatsOfRun room;
            const std::byte* from = run.read(codes, coded);
            float* to = run.target(values.data() + chunk.offset, room);
            for (std::size_t i = 0; i < kRun; i += lanes())
              store(decoded_halves<Codes>(from, scale, i), to + i);
            run.finish(room, values.data() + chunk.offset);
          });
}

void Dequantize(const Piece& piece, const std::byte* payload, std::span<float> values) {
  with_codes(piece.format.element,
             [&](auto codes) { dequantize_all<decltype(codes)>(piece, payload, values); });
}

// Sums of a whole run under scales whose products are finite. Returns false, without storing any, if
// one is Inf, which may be an overflow, or NaN. `extrema` may be null.
#if HWY_TARGET == HWY_SCALAR
template <class Codes>
HWY_INLINE bool add_finite_run(const std::byte*, const Pair&, const float*, float*, float*) {
  return false;
}
#else
template <class Codes>
HWY_INLINE bool add_finite_run(const std::byte* codes, const Pair& scale, const float* own,
                               float* to, float* extrema) {
  if (HWY_UNLIKELY(Codes::has_nan(codes))) return false;
  Vector sums[kRunVectors];
  FiniteRanks ranks;
  for (std::size_t v = 0; v < kRunVectors; ++v) {
    const std::size_t i = v * lanes();
    const Vector term = finite_halves<Codes>(codes, scale, i);
    sums[v] = rounded_halves(hn::Add(rounded_halves(load(own + i)), term));
    ranks.raise(sums[v]);
  }
  if (HWY_UNLIKELY(!ranks.are_finite())) return false;
  for (std::size_t v = 0; v < kRunVectors; ++v) store(sums[v], to + v * lanes());
  if (extrema != nullptr) ranks.add_to(extrema);
  return true;
}
#endif

template <class Codes, bool kFindsExtrema>
void add_all(const Piece& piece, const std::byte* payload, const float* local,
             std::span<float> sums, float* extrema) {
  for_each_coded_run<Codes>(
      piece, payload, sums.size(),
      [&](const RunPart& part, const Pair& scale, const std::byte* codes, const CodedChunk& chunk)
          HWY_ATTR {
            const WholeRun run(part);
            const std::size_t group = 2 * ((piece.first + chunk.offset) / kRun + part.run);
            const std::size_t at = chunk.offset + part.offset;
            if (!run.is_partial() && chunk.finite &&
                add_finite_run<Codes>(codes + part.offset, scale, local + at, sums.data() + at,
                                      kFindsExtrema ? extrema + group : nullptr))
              return;
            CodesOfRun coded;
            FloatsOfRun room;
            FloatsOfRun summed;
            const std::byte* from = run.read(codes, coded);
            const float* own = run.read(local + chunk.offset, room);
            float* to = run.target(sums.data() + chunk.offset, summed);
            PairRanks ranks;
            for (std::size_t i = 0; i < kRun; i += lanes()) {
              const Vector term = decoded_halves<Codes>(from, scale, i);
              const Vector sum = saturated_halves(hn::Add(rounded_halves(load(own + i)), term));
              store(sum, to + i);
              if constexpr (kFindsExtrema) ranks.raise(covered_ranks(run, sum, i), i);
            }
            run.finish(summed, sums.data() + chunk.offset);
            if constexpr (kFindsExtrema) ranks.add_to(extrema + group);
          });
}

void DequantizeAdd(const Piece& piece, const std::byte* payload, const float* local,
                   std::span<float> sums, float* extrema) {
  with_codes(piece.format.element, [&](auto codes) {
    if (extrema == nullptr)
      add_all<decltype(codes), false>(piece, payload, local, sums, extrema);
    else
      add_all<decltype(codes), true>(piece, payload, local, sums, extrema);
  });
}

template <class Codes>
void count_all(const Piece& piece, std::span<const float> values, QuantizeCounts& counts) {
  in_chunks(piece, values.size(), kChunk,
            [&](const Piece& chunk, std::size_t done, std::size_t length) {
              const ChunkScales scales(chunk, length);
              const ChunkScales factors = scales.factors();
              for_each_run(chunk.first, length, [&](const RunPart& part) HWY_ATTR {
                const WholeRun run(part);
                FloatsOfRun room;
                const float* from = run.read(values.data() + done, room);
                count_run<Codes>(run, from, factors.of(part), scales.of(part), counts);
              });
            });
}

QuantizeCounts Count(const Piece& piece, std::span<const float> values) {
  QuantizeCounts counts{.elements = values.size()};
  with_codes(piece.format.element,
             [&](auto codes) { count_all<decltype(codes)>(piece, values, counts); });
  return counts;
}

}  // namespace
}  // namespace equarx::numerics::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace equarx::numerics::kernels {

namespace {
HWY_EXPORT(FindExtrema);
HWY_EXPORT(EncodeScales);
HWY_EXPORT(DecodeScales);
HWY_EXPORT(Quantize);
HWY_EXPORT(Dequantize);
HWY_EXPORT(DequantizeAdd);
HWY_EXPORT(Count);
}  // namespace

namespace paired {

void find_extrema(std::size_t first, std::span<const float> values, float* extrema) {
  HWY_DYNAMIC_DISPATCH(FindExtrema)(first, values, extrema);
}

void encode_scales(ElementFormat element, std::span<const float> extrema, std::byte* bytes) {
  HWY_DYNAMIC_DISPATCH(EncodeScales)(element, extrema, bytes);
}

void decode_scales(const std::byte* bytes, std::span<float> scales) {
  HWY_DYNAMIC_DISPATCH(DecodeScales)(bytes, scales);
}

void quantize(const Piece& piece, std::span<const float> values, std::byte* payload,
              QuantizeCounts* counts) {
  HWY_DYNAMIC_DISPATCH(Quantize)(piece, values, payload, counts);
}

void dequantize(const Piece& piece, const std::byte* payload, std::span<float> values) {
  HWY_DYNAMIC_DISPATCH(Dequantize)(piece, payload, values);
}

void dequantize_add(const Piece& piece, const std::byte* payload, const float* local,
                    std::span<float> sums, float* extrema) {
  HWY_DYNAMIC_DISPATCH(DequantizeAdd)(piece, payload, local, sums, extrema);
}

QuantizeCounts count(const Piece& piece, std::span<const float> values) {
  return HWY_DYNAMIC_DISPATCH(Count)(piece, values);
}

}  // namespace paired
}  // namespace equarx::numerics::kernels
#endif
