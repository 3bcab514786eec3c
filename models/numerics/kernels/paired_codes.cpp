#include "models/numerics/kernels/paired_codes.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>

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
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels::HWY_NAMESPACE {
namespace {

constexpr std::size_t kRun = 2 * kQuickReduceBlock;
// Elements whose codes and scales are held at once: whole bytes for any width, and few enough for
// the L1 cache.
constexpr std::size_t kChunk = 4096;
constexpr std::size_t kChunkGroups = 2 * (kChunk / kRun + 1);

// The part of a piece that lies in one run.
struct RunPart {
  std::size_t offset;  // in the piece
  std::size_t run;     // counted from the first run of the piece
  std::size_t within;  // its start in the run
  std::size_t length;
};

template <class Act>
HWY_INLINE void for_each_run(std::size_t first, std::size_t count, Act act) {
  std::size_t within = first % kRun;
  std::size_t run = 0;
  for (std::size_t done = 0; done < count; within = 0, ++run) {
    const std::size_t length = std::min(kRun - within, count - done);
    act(RunPart{done, run, within, length});
    done += length;
  }
}

// Values of a run that may extend beyond its piece. Elements outside read as zeros and are not
// written.
class WholeRun {
 public:
  HWY_INLINE explicit WholeRun(const RunPart& part) : part_(part) {}

  HWY_INLINE bool is_partial() const { return part_.length != kRun; }
  // True for lanes of the vector at `i` that belong to the piece.
  HWY_INLINE hn::Mask<Words> covered(std::size_t i) const {
    const auto at = hn::Iota(Ints(), static_cast<std::int32_t>(i));
    const auto begin = hn::Set(Ints(), static_cast<std::int32_t>(part_.within) - 1);
    const auto end = hn::Set(Ints(), static_cast<std::int32_t>(part_.within + part_.length));
    return hn::RebindMask(Words(), hn::And(hn::Gt(at, begin), hn::Lt(at, end)));
  }

  template <class T>
  HWY_INLINE const T* read(const T* piece, std::array<T, kRun>& room) const {
    if (!is_partial()) return piece + part_.offset;
    room.fill(T{});
    std::copy_n(piece + part_.offset, part_.length, room.data() + part_.within);
    return room.data();
  }
  template <class T>
  HWY_INLINE T* target(T* piece, std::array<T, kRun>& room) const {
    return is_partial() ? room.data() : piece + part_.offset;
  }
  template <class T>
  HWY_INLINE void finish(const std::array<T, kRun>& room, T* piece) const {
    if (is_partial()) std::copy_n(room.data() + part_.within, part_.length, piece + part_.offset);
  }

 private:
  const RunPart& part_;
};

using FloatsOfRun = std::array<float, kRun>;
using CodesOfRun = std::array<std::byte, kRun>;

// One number for the even elements of a run, and one for the odd ones.
class Pair {
 public:
#if HWY_TARGET == HWY_SCALAR
  HWY_INLINE explicit Pair(const float* two) : both_{two[0], two[1]} {}
  HWY_INLINE Vector many(std::size_t i) const { return hn::Set(Floats(), both_[i % 2]); }

 private:
  float both_[2];
#else
  HWY_INLINE explicit Pair(const float* two) {
    const hn::Repartition<std::uint64_t, Floats> pairs;
    std::uint64_t bits = 0;
    std::memcpy(&bits, two, sizeof(bits));
    both_ = hn::BitCast(Floats(), hn::Set(pairs, bits));
  }
  HWY_INLINE Vector many(std::size_t) const { return both_; }

 private:
  Vector both_;
#endif
};

// True for scales whose multiples do not underflow.
HWY_INLINE bool is_ordinary(float scale) {
  const float size = scale < 0.0F ? -scale : scale;
  return size >= 0x1p-14F && size <= kLargestHalf;
}

// Scales of the groups of a chunk, filled up with zeros.
class ChunkScales {
 public:
  HWY_INLINE ChunkScales(const Piece& piece, std::size_t count) {
    const std::size_t begin = piece.first / kRun * 2;
    const std::size_t end = scale_count(piece.format, piece.first + count);
    groups_ = end - begin;
    std::fill(std::copy(piece.scales + begin, piece.scales + end, scales_.begin()), scales_.end(),
              0.0F);
  }
  HWY_INLINE Pair of(const RunPart& part) const { return Pair(scales_.data() + 2 * part.run); }
  // True if codes other than 0 keep a finite value other than 0 under both scales of a run.
  HWY_INLINE bool are_ordinary(const RunPart& part) const {
    const float* both = scales_.data() + 2 * part.run;
    return is_ordinary(both[0]) && is_ordinary(both[1]);
  }
  // Replaces scales by the factors that values are multiplied by.
  HWY_INLINE ChunkScales factors() const {
    constexpr float kEpsilon = 0x1p-24F;
    ChunkScales all = *this;
    for (std::size_t i = 0; i < groups_; i += lanes()) {
      const Vector scale = load(scales_.data() + i);
      const Vector above = saturated_halves(hn::Add(scale, hn::Set(Floats(), kEpsilon)));
      store(saturated_halves(hn::Div(hn::Set(Floats(), 1.0F), above)), all.scales_.data() + i);
    }
    return all;
  }

 private:
  std::size_t groups_ = 0;
  std::array<float, kChunkGroups + hn::MaxLanes(Floats())> scales_;
};

// Integers with codes from -kCodes to kCodes - 1.
template <int kCodes, class Stored>
struct Integers {
  using Element = Stored;
  using Unpacked = Int8Element;
  static constexpr bool kFewChecks = true;  // every code has a number, also the one of NaN

  // `scaled`: extremum of a group. Returns its scale before the last rounding.
  HWY_INLINE static Vector scale(Vector extremum) {
    return hn::Mul(extremum, hn::Set(Floats(), -1.0F / kCodes));
  }
  // NaN becomes the lowest code.
  HWY_INLINE static Vector shifted(Vector scaled) {
    const Vector lowest = hn::Set(Floats(), -kCodes);
    const Vector above = hn::IfThenElse(hn::Gt(scaled, lowest), scaled, lowest);
    const Vector within = hn::Min(above, hn::Set(Floats(), kCodes - 1));
    return hn::Add(within, hn::Set(Floats(), kAligned));
  }
  HWY_INLINE static hn::Vec<Words> encode(Vector scaled) {
    return hn::BitCast(Words(), shifted(scaled));
  }
  HWY_INLINE static Vector through(Vector scaled) {
    return hn::Sub(shifted(scaled), hn::Set(Floats(), kAligned));
  }
  HWY_INLINE static hn::Mask<Floats> flushes(Vector scaled) {
    return hn::Eq(shifted(scaled), hn::Set(Floats(), kAligned));
  }
  // Half a step below the lowest code is a tie that rounds to it; half a step above the highest is
  // not.
  HWY_INLINE static hn::Mask<Floats> clips(Vector scaled) {
    return hn::Or(hn::Lt(scaled, hn::Set(Floats(), -kCodes - 0.5F)),
                  hn::Ge(scaled, hn::Set(Floats(), kCodes - 0.5F)));
  }
};

struct Float8 {
  using Element = Fp8E4m3FnuzElement;
  using Unpacked = Element;
  static constexpr bool kFewChecks = false;

  HWY_INLINE static Vector scale(Vector extremum) {
    constexpr float kOneOver240 = 0x1.11p-8F;  // nearest FP16 number
    return hn::Mul(hn::Abs(extremum), hn::Set(Floats(), kOneOver240));
  }
  HWY_INLINE static hn::Vec<Words> encode(Vector scaled) { return encode_small<Element>(scaled); }
  HWY_INLINE static Vector through(Vector scaled) { return through_codes<Element>(scaled); }
  HWY_INLINE static hn::Mask<Floats> clips(Vector scaled) {
    return hn::Gt(hn::Abs(scaled), hn::Set(Floats(), 248.0F));  // half a step above the largest
  }
};

template <class Act>
HWY_INLINE void with_codes(ElementFormat element, Act act) {
  switch (element) {
    case ElementFormat::int8: return act(Integers<128, Int8Element>{});
    case ElementFormat::int6: return act(Integers<32, Int6Element>{});
    case ElementFormat::int4: return act(Integers<8, Int4Element>{});
    case ElementFormat::fp8_e4m3fnuz: return act(Float8{});
    default: throw std::logic_error("QuickReduce has no kernels for this element");
  }
}

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

HWY_INLINE hn::Vec<Words> covered_ranks(const WholeRun& run, Vector halves, std::size_t i) {
  const auto ranks = ranks_of<Signs::kept>(halves);
  return run.is_partial() ? hn::IfThenElseZero(run.covered(i), ranks) : ranks;
}

void FindExtrema(std::size_t first, std::span<const float> values, float* extrema) {
  float* const groups = extrema + first / kRun * 2;
  for_each_run(first, values.size(), [&](const RunPart& part) HWY_ATTR {
    const WholeRun run(part);
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

HWY_INLINE Vector scaled_halves(const float* values, const Pair& factors, std::size_t i) {
  return saturated_halves(hn::Mul(rounded_halves(load(values + i)), factors.many(i)));
}

template <class Codes>
HWY_INLINE void quantize_chunk(const Piece& piece, std::span<const float> values,
                               std::byte* codes) {
  const ChunkScales factors = ChunkScales(piece, values.size()).factors();
  for_each_run(piece.first, values.size(), [&](const RunPart& part) HWY_ATTR {
    const WholeRun run(part);
    FloatsOfRun room;
    CodesOfRun coded;
    const float* from = run.read(values.data(), room);
    std::byte* to = run.target(codes, coded);
    const Pair factor = factors.of(part);
    for (std::size_t i = 0; i < kRun; i += lanes())
      store_codes<Int8Element>(Codes::encode(scaled_halves(from, factor, i)), to + i);
    run.finish(coded, codes);
  });
}

template <class Codes>
void quantize_all(const Piece& piece, std::span<const float> values, std::byte* payload) {
  using Element = typename Codes::Element;
  const std::size_t bytes = payload_bytes(piece.format, values.size());
  in_chunks(piece, values.size(), kChunk,
            [&](const Piece& part, std::size_t done, std::size_t length) {
              const std::span<const float> from = values.subspan(done, length);
              const std::size_t at = done * kBits<Element> / CHAR_BIT;
              if constexpr (kPacked<Element>) {
                std::array<std::byte, kChunk> codes;
                quantize_chunk<Codes>(part, from, codes.data());
                pack<Element>(codes.data(), length, payload + at, bytes - at);
              } else {
                quantize_chunk<Codes>(part, from, payload + at);
              }
            });
}

void Quantize(const Piece& piece, std::span<const float> values, std::byte* payload) {
  with_codes(piece.format.element,
             [&](auto codes) { quantize_all<decltype(codes)>(piece, values, payload); });
}

// Calls act(part of a run, its scales, codes of the chunk, offset of the chunk) for each run.
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
    for_each_run(part.first, length,
                 [&](const RunPart& run) HWY_ATTR { act(run, scales.of(run), codes, done); });
  });
}

template <class Codes>
HWY_INLINE Vector decoded_halves(const std::byte* codes, const Pair& scales, std::size_t i) {
  const Vector numbers = load_decoded<typename Codes::Unpacked>(codes + i);
  return saturated_halves(hn::Mul(numbers, scales.many(i)));
}

template <class Codes>
void dequantize_all(const Piece& piece, const std::byte* payload, std::span<float> values) {
  for_each_coded_run<Codes>(piece, payload, values.size(),
                            [&](const RunPart& part, const Pair& scale, const std::byte* codes,
                                std::size_t chunk) HWY_ATTR {
                              const WholeRun run(part);
                              CodesOfRun coded;
                              FloatsOfRun room;
                              const std::byte* from = run.read(codes, coded);
                              float* to = run.target(values.data() + chunk, room);
                              for (std::size_t i = 0; i < kRun; i += lanes())
                                store(decoded_halves<Codes>(from, scale, i), to + i);
                              run.finish(room, values.data() + chunk);
                            });
}

void Dequantize(const Piece& piece, const std::byte* payload, std::span<float> values) {
  with_codes(piece.format.element,
             [&](auto codes) { dequantize_all<decltype(codes)>(piece, payload, values); });
}

template <class Codes, bool kFindsExtrema>
void add_all(const Piece& piece, const std::byte* payload, const float* local,
             std::span<float> sums, float* extrema) {
  for_each_coded_run<Codes>(
      piece, payload, sums.size(),
      [&](const RunPart& part, const Pair& scale, const std::byte* codes, std::size_t chunk)
          HWY_ATTR {
            const WholeRun run(part);
            CodesOfRun coded;
            FloatsOfRun room;
            FloatsOfRun summed;
            const std::byte* from = run.read(codes, coded);
            const float* own = run.read(local + chunk, room);
            float* to = run.target(sums.data() + chunk, summed);
            PairRanks ranks;
            for (std::size_t i = 0; i < kRun; i += lanes()) {
              const Vector term = decoded_halves<Codes>(from, scale, i);
              const Vector sum = saturated_halves(hn::Add(rounded_halves(load(own + i)), term));
              store(sum, to + i);
              if constexpr (kFindsExtrema) ranks.raise(covered_ranks(run, sum, i), i);
            }
            run.finish(summed, sums.data() + chunk);
            const std::size_t first = (piece.first + chunk) / kRun + part.run;
            if constexpr (kFindsExtrema) ranks.add_to(extrema + 2 * first);
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

template <class Codes, bool kPartial>
HWY_INLINE void count_lanes(const WholeRun& run, Vector scaled, Vector halves, Vector scales,
                            std::size_t i, LaneCounts& counts) {
  const Vector zero = hn::Zero(Floats());
  const Vector most = hn::Set(Floats(), std::numeric_limits<float>::max());
  const Vector decoded = saturated_halves(hn::Mul(Codes::through(scaled), scales));
  const auto add = [&](hn::Vec<Ints>& sums, auto mask) HWY_ATTR {
    if constexpr (kPartial)
      add_mask(sums, hn::And(hn::RebindMask(Floats(), run.covered(i)), mask));
    else
      add_mask(sums, mask);
  };
  add(counts.clipped, hn::And(hn::Le(hn::Abs(halves), most), Codes::clips(scaled)));
  add(counts.flushed, hn::AndNot(hn::Eq(halves, zero), hn::Eq(decoded, zero)));
  add(counts.non_finite, hn::Not(hn::Le(hn::Abs(decoded), most)));
}

// Counts in a whole run whose codes keep their values: only code 0 decodes as 0.
template <class Codes>
HWY_INLINE void count_ordinary_run(const float* values, const Pair& factors, LaneCounts& counts) {
  const Vector zero = hn::Zero(Floats());
  const Vector most = hn::Set(Floats(), std::numeric_limits<float>::max());
  for (std::size_t i = 0; i < kRun; i += lanes()) {
    const Vector halves = rounded_halves(load(values + i));
    const Vector scaled = saturated_halves(hn::Mul(halves, factors.many(i)));
    add_mask(counts.clipped, hn::And(hn::Le(hn::Abs(halves), most), Codes::clips(scaled)));
    add_mask(counts.flushed, hn::AndNot(hn::Eq(halves, zero), Codes::flushes(scaled)));
  }
}

template <class Codes, bool kPartial>
HWY_INLINE void count_run(const WholeRun& run, const float* values, const Pair& factors,
                          const Pair& scales, LaneCounts& counts) {
  for (std::size_t i = 0; i < kRun; i += lanes()) {
    const Vector halves = rounded_halves(load(values + i));
    const Vector scaled = saturated_halves(hn::Mul(halves, factors.many(i)));
    count_lanes<Codes, kPartial>(run, scaled, halves, scales.many(i), i, counts);
  }
}

template <class Codes>
void count_all(const Piece& piece, std::span<const float> values, QuantizeCounts& counts) {
  in_chunks(piece, values.size(), kChunk,
            [&](const Piece& chunk, std::size_t done, std::size_t length) {
              const ChunkScales scales(chunk, length);
              const ChunkScales factors = scales.factors();
              LaneCounts many;
              for_each_run(chunk.first, length, [&](const RunPart& part) HWY_ATTR {
                const WholeRun run(part);
                FloatsOfRun room;
                const float* from = run.read(values.data() + done, room);
                if (run.is_partial())
                  return count_run<Codes, true>(run, from, factors.of(part), scales.of(part), many);
                if constexpr (Codes::kFewChecks)
                  if (HWY_LIKELY(scales.are_ordinary(part)))
                    return count_ordinary_run<Codes>(from, factors.of(part), many);
                count_run<Codes, false>(run, from, factors.of(part), scales.of(part), many);
              });
              many.add_to(counts);
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

void quantize(const Piece& piece, std::span<const float> values, std::byte* payload) {
  HWY_DYNAMIC_DISPATCH(Quantize)(piece, values, payload);
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
