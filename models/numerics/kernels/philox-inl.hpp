// Vectorised Philox4x32-10, equivalent to random/philox.hpp.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_PHILOX_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_PHILOX_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_PHILOX_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_PHILOX_INL_HPP_
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "models/numerics/random/philox.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Consecutive counters: `first` and its successors in the lower two words (64 bits), `third` and
// `fourth` in the upper two.
struct CounterRange {
  std::uint64_t first;
  std::uint32_t third;
  std::uint32_t fourth;
};

#if HWY_TARGET != HWY_SCALAR

// One counter per 64-bit lane, the width of the products. A word is in the lower half of its lane;
// the upper half is garbage that no operation moves down.
using Wide = hn::ScalableTag<std::uint64_t>;
using WideVector = hn::Vec<Wide>;

// Vectors of counters processed in an interleaved fashion: a round waits for its products, so a
// single vector would leave most of the processor idle.
constexpr std::size_t kInterleaved = 4;
// Counters computed at once.
HWY_INLINE constexpr std::size_t counters_at_once() { return kInterleaved * hn::MaxLanes(Wide()); }

struct PhiloxLanes {
  WideVector words[4];
};

HWY_INLINE WideVector product_of_words(WideVector words, std::uint32_t multiplier) {
  const hn::Repartition<std::uint32_t, Wide> words_of;
  return hn::MulEven(hn::BitCast(words_of, words), hn::Set(words_of, multiplier));
}

HWY_INLINE PhiloxLanes philox_round(const PhiloxLanes& c, WideVector key0, WideVector key1) {
  const WideVector product0 = product_of_words(c.words[0], detail::kPhiloxMultiplier0);
  const WideVector product1 = product_of_words(c.words[2], detail::kPhiloxMultiplier1);
  return {{hn::Xor(hn::ShiftRight<32>(product1), hn::Xor(c.words[1], key0)), product1,
           hn::Xor(hn::ShiftRight<32>(product0), hn::Xor(c.words[3], key1)), product0}};
}

// Random words of counters_at_once() counters of the range, starting at `index`.
class PhiloxBatch {
 public:
  HWY_INLINE PhiloxBatch(const CounterRange& range, std::size_t index, const PhiloxKey& key) {
    for (std::size_t v = 0; v < kInterleaved; ++v) {
      const WideVector counter = hn::Iota(Wide(), range.first + index + v * hn::Lanes(Wide()));
      lanes[v] = {{counter, hn::ShiftRight<32>(counter),
                   hn::Set(Wide(), std::uint64_t{range.third}),
                   hn::Set(Wide(), std::uint64_t{range.fourth})}};
    }
    for (std::uint32_t round = 0; round < detail::kPhiloxRounds; ++round) {
      const WideVector key0 = round_key(key[0] + round * detail::kPhiloxWeyl0);
      const WideVector key1 = round_key(key[1] + round * detail::kPhiloxWeyl1);
      for (PhiloxLanes& vector : lanes) vector = philox_round(vector, key0, key1);
    }
  }
  PhiloxLanes lanes[kInterleaved];

 private:
  HWY_INLINE static WideVector round_key(std::uint32_t key) {
    return hn::Set(Wide(), std::uint64_t{key});
  }
};

// Counters beyond `count` for which the functions below may also write words.
HWY_INLINE constexpr std::size_t spare_counters() { return counters_at_once() - 1; }

// Writes the four words of each counter consecutively. `words` holds 4 x (count +
// spare_counters()).
HWY_INLINE void draw_interleaved(const CounterRange& range, std::size_t count, const PhiloxKey& key,
                                 std::uint32_t* words) {
  const WideVector lower = hn::Set(Wide(), 0xffffffffULL);
  for (std::size_t i = 0; i < count;) {
    const PhiloxBatch batch(range, i, key);
    for (const PhiloxLanes& drawn : batch.lanes) {
      const WideVector one =
          hn::Or(hn::And(drawn.words[0], lower), hn::ShiftLeft<32>(drawn.words[1]));
      const WideVector two =
          hn::Or(hn::And(drawn.words[2], lower), hn::ShiftLeft<32>(drawn.words[3]));
      hn::StoreInterleaved2(one, two, Wide(), reinterpret_cast<std::uint64_t*>(words + 4 * i));
      i += hn::Lanes(Wide());
    }
  }
}

// Writes the first words of all counters to words[0], the second ones to words[1], and so on. Each
// array holds count + spare_counters() words.
HWY_INLINE void draw_apart(const CounterRange& range, std::size_t count, const PhiloxKey& key,
                           std::uint32_t* const (&words)[4]) {
  const hn::Rebind<std::uint32_t, Wide> narrow;
  for (std::size_t i = 0; i < count;) {
    const PhiloxBatch batch(range, i, key);
    for (const PhiloxLanes& drawn : batch.lanes) {
      for (std::size_t w = 0; w < 4; ++w)
        hn::StoreU(hn::TruncateTo(narrow, drawn.words[w]), narrow, words[w] + i);
      i += hn::Lanes(Wide());
    }
  }
}

#else

HWY_INLINE constexpr std::size_t spare_counters() { return 0; }

HWY_INLINE PhiloxCounter philox_of(const CounterRange& range, std::size_t i, const PhiloxKey& key) {
  const std::uint64_t counter = range.first + i;
  return philox4x32({static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32),
                     range.third, range.fourth},
                    key);
}
HWY_INLINE void draw_interleaved(const CounterRange& range, std::size_t count, const PhiloxKey& key,
                                 std::uint32_t* words) {
  for (std::size_t i = 0; i < count; ++i) {
    const PhiloxCounter drawn = philox_of(range, i, key);
    for (std::size_t w = 0; w < 4; ++w) words[4 * i + w] = drawn[w];
  }
}
HWY_INLINE void draw_apart(const CounterRange& range, std::size_t count, const PhiloxKey& key,
                           std::uint32_t* const (&words)[4]) {
  for (std::size_t i = 0; i < count; ++i) {
    const PhiloxCounter drawn = philox_of(range, i, key);
    for (std::size_t w = 0; w < 4; ++w) words[w][i] = drawn[w];
  }
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
