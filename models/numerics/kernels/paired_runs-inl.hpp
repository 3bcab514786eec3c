// Runs of 64 elements with a scale for the even and one for the odd ones, of QuickReduce.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_PAIRED_RUNS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_PAIRED_RUNS_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_PAIRED_RUNS_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_PAIRED_RUNS_INL_HPP_
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "models/numerics/kernels/half-inl.hpp"
#include "models/numerics/kernels/kernels.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
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

constexpr float kSmallestOrdinary = 0x1p-14F;

// True for scales whose multiples do not underflow.
HWY_INLINE bool is_ordinary(float scale) {
  const float size = scale < 0.0F ? -scale : scale;
  return size >= kSmallestOrdinary && size <= kLargestHalf;
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
  // True if that is the case for all scales.
  HWY_INLINE bool are_ordinary() const {
    const Vector least = hn::Set(Floats(), kSmallestOrdinary);
    const Vector most = hn::Set(Floats(), kLargestHalf);
    for (std::size_t i = 0; i < groups_; i += lanes()) {
      const Vector size = hn::Abs(load(scales_.data() + i));
      const auto beyond = hn::Not(hn::FirstN(Floats(), groups_ - i));
      const auto within = hn::And(hn::Ge(size, least), hn::Le(size, most));
      if (!hn::AllTrue(Floats(), hn::Or(beyond, within))) return false;
    }
    return true;
  }
  // True if all products with numbers up to `largest` are finite in FP16.
  HWY_INLINE bool decode_finitely(float largest) const {
    const Vector most = hn::Set(Floats(), kLargestHalf / largest);
    for (std::size_t i = 0; i < groups_; i += lanes())
      if (!hn::AllTrue(Floats(), hn::Le(hn::Abs(load(scales_.data() + i)), most))) return false;
    return true;
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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
