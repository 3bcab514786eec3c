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
#include <utility>

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
using WideWords = hn::Repartition<std::uint32_t, Wide>;
using WideVector = hn::Vec<Wide>;

// Vectors of counters processed in an interleaved fashion: a round waits for its products, so a
// single vector would leave most of the processor idle.
constexpr std::size_t kInterleaved = 4;
// Counters computed at once.
HWY_INLINE constexpr std::size_t counters_at_once() { return kInterleaved * hn::MaxLanes(Wide()); }

struct PhiloxLanes {
  WideVector words[4];
};

HWY_INLINE WideVector wide(std::uint32_t word) { return hn::Set(Wide(), std::uint64_t{word}); }
HWY_INLINE WideVector upper_words(WideVector lanes) { return hn::ShiftRight<32>(lanes); }
HWY_INLINE WideVector lower_words(WideVector lanes) { return hn::And(lanes, wide(~0U)); }
HWY_INLINE WideVector product_of_words(WideVector words, std::uint32_t multiplier) {
  return hn::MulEven(hn::BitCast(WideWords(), words), hn::Set(WideWords(), multiplier));
}

// Products and keys of a round.
struct PhiloxRound {
  HWY_INLINE PhiloxRound(const PhiloxLanes& c, const PhiloxKey& key, std::uint32_t round)
      : product0(product_of_words(c.words[0], detail::kPhiloxMultiplier0)),
        product1(product_of_words(c.words[2], detail::kPhiloxMultiplier1)),
        key0(wide(key[0] + round * detail::kPhiloxWeyl0)),
        key1(wide(key[1] + round * detail::kPhiloxWeyl1)) {}
  HWY_INLINE PhiloxLanes state(const PhiloxLanes& c) const {
    return {{hn::Xor(upper_words(product1), hn::Xor(c.words[1], key0)), product1,
             hn::Xor(upper_words(product0), hn::Xor(c.words[3], key1)), product0}};
  }
  WideVector product0;
  WideVector product1;
  WideVector key0;
  WideVector key1;
};

// The first two rounds of counters that differ in their lowest word alone: half of the words are
// the same for all.
class PhiloxStart {
 public:
  HWY_INLINE PhiloxStart(const CounterRange& range, const PhiloxKey& key) {
    const std::uint64_t product1 = std::uint64_t{detail::kPhiloxMultiplier1} * range.third;
    const std::uint32_t word0 = upper(product1) ^ upper(range.first) ^ key[0];
    const std::uint64_t product0 = std::uint64_t{detail::kPhiloxMultiplier0} * word0;
    third_ = wide(range.fourth ^ key[1]);
    next_first_ = wide(static_cast<std::uint32_t>(product1) ^ (key[0] + detail::kPhiloxWeyl0));
    next_third_ = wide(upper(product0) ^ (key[1] + detail::kPhiloxWeyl1));
    next_fourth_ = wide(static_cast<std::uint32_t>(product0));
  }
  HWY_INLINE PhiloxLanes state(WideVector counters) const {
    const WideVector product0 = product_of_words(counters, detail::kPhiloxMultiplier0);
    const WideVector third = hn::Xor(upper_words(product0), third_);
    const WideVector product1 = product_of_words(third, detail::kPhiloxMultiplier1);
    return {{hn::Xor(upper_words(product1), next_first_), product1, hn::Xor(product0, next_third_),
             next_fourth_}};
  }

 private:
  static std::uint32_t upper(std::uint64_t lanes) {
    return static_cast<std::uint32_t>(lanes >> 32);
  }
  WideVector third_;
  WideVector next_first_;
  WideVector next_third_;
  WideVector next_fourth_;
};

// Rounds from the third to the last but one, unrolled.
template <std::uint32_t... kRounds>
HWY_INLINE void philox_rounds(PhiloxLanes (&lanes)[kInterleaved], const PhiloxKey& key,
                              std::integer_sequence<std::uint32_t, kRounds...>) {
  const auto run = [&](std::uint32_t round) HWY_ATTR {
    for (PhiloxLanes& vector : lanes) vector = PhiloxRound(vector, key, round).state(vector);
  };
  (run(2 + kRounds), ...);
}

// Calls act(index, states before the last round) for counters_at_once() counters each from `index`
// of the range. `order`: counters of the lanes of the vectors, relative to the index.
template <class Act>
HWY_INLINE void for_each_batch(const CounterRange& range, std::size_t count, const PhiloxKey& key,
                               const WideVector (&order)[kInterleaved], Act act) {
  constexpr std::uint64_t kLowest = std::uint64_t{1} << 32;  // values of the lowest word
  constexpr std::make_integer_sequence<std::uint32_t, detail::kPhiloxRounds - 3> kRounds;
  for (std::size_t i = 0; i < count;) {
    CounterRange rest = range;
    rest.first += i;
    const std::uint64_t left = kLowest - rest.first % kLowest;
    const std::size_t end = left < count - i ? i + static_cast<std::size_t>(left) : count;
    const PhiloxStart start(rest, key);
    for (; i < end; i += counters_at_once()) {
      const WideVector first = hn::Set(Wide(), range.first + i);
      PhiloxLanes lanes[kInterleaved];
      for (std::size_t v = 0; v < kInterleaved; ++v)
        lanes[v] = start.state(hn::Add(first, order[v]));
      philox_rounds(lanes, key, kRounds);
      act(i, lanes);
    }
    i = end;
  }
}

// Counters beyond `count` for which the functions below may also write words.
HWY_INLINE constexpr std::size_t spare_counters() { return counters_at_once() - 1; }

// Writes the four words of each counter consecutively. `words` holds 4 x (count +
// spare_counters()).
HWY_INLINE void draw_interleaved(const CounterRange& range, std::size_t count, const PhiloxKey& key,
                                 std::uint32_t* words) {
  // Interleaving two vectors takes all even lanes first: they have the first half of the counters.
  const std::uint64_t half = hn::Lanes(Wide()) / 2;
  const WideVector lane = hn::ShiftRight<1>(hn::Iota(Wide(), 0));
  WideVector order[kInterleaved];
  for (std::size_t v = 0; v < kInterleaved; ++v)
    order[v] = hn::Add(
        lane, hn::OddEven(hn::Set(Wide(), (2 * v + 1) * half), hn::Set(Wide(), 2 * v * half)));
  const auto pairs = [](WideVector product, WideVector word, WideVector key_word) HWY_ATTR {
    const auto swapped = hn::Shuffle2301(hn::BitCast(WideWords(), product));
    return hn::Xor(hn::Xor(hn::BitCast(Wide(), swapped), lower_words(word)), key_word);
  };
  for_each_batch(range, count, key, order,
                 [&](std::size_t i, const PhiloxLanes(&lanes)[kInterleaved]) HWY_ATTR {
                   auto* to = reinterpret_cast<std::uint64_t*>(words + 4 * i);
                   for (const PhiloxLanes& c : lanes) {
                     const PhiloxRound last(c, key, detail::kPhiloxRounds - 1);
                     const WideVector one = pairs(last.product1, c.words[1], last.key0);
                     const WideVector two = pairs(last.product0, c.words[3], last.key1);
                     hn::StoreU(hn::InterleaveLower(Wide(), one, two), Wide(), to);
                     hn::StoreU(hn::InterleaveUpper(Wide(), one, two), Wide(),
                                to + hn::Lanes(Wide()));
                     to += 2 * hn::Lanes(Wide());
                   }
                 });
}

// Writes the first words of all counters to words[0], the second ones to words[1], and so on. Each
// array holds count + spare_counters() words.
HWY_INLINE void draw_apart(const CounterRange& range, std::size_t count, const PhiloxKey& key,
                           std::uint32_t* const (&words)[4]) {
  // Even counters in one vector, odd ones in the next.
  const WideVector even = hn::Add(hn::Iota(Wide(), 0), hn::Iota(Wide(), 0));
  WideVector order[kInterleaved];
  for (std::size_t v = 0; v < kInterleaved; ++v)
    order[v] = hn::Add(even, hn::Set(Wide(), v / 2 * 2 * hn::Lanes(Wide()) + v % 2));
  const auto store = [](WideVector odd_upper, WideVector even_lower, std::uint32_t* to) HWY_ATTR {
    hn::StoreU(
        hn::OddEven(hn::BitCast(WideWords(), odd_upper), hn::BitCast(WideWords(), even_lower)),
        WideWords(), to);
  };
  for_each_batch(range, count, key, order,
                 [&](std::size_t i, const PhiloxLanes(&lanes)[kInterleaved]) HWY_ATTR {
                   for (std::size_t v = 0; v < kInterleaved; v += 2) {
                     const std::size_t at = i + v * hn::Lanes(Wide());
                     const PhiloxRound evens(lanes[v], key, detail::kPhiloxRounds - 1);
                     const PhiloxRound odds(lanes[v + 1], key, detail::kPhiloxRounds - 1);
                     const PhiloxLanes even_words = evens.state(lanes[v]);
                     const auto raised = [](WideVector word, WideVector key_word) HWY_ATTR {
                       return hn::ShiftLeft<32>(hn::Xor(word, key_word));
                     };
                     store(hn::Xor(odds.product1, raised(lanes[v + 1].words[1], odds.key0)),
                           even_words.words[0], words[0] + at);
                     store(hn::ShiftLeft<32>(odds.product1), evens.product1, words[1] + at);
                     store(hn::Xor(odds.product0, raised(lanes[v + 1].words[3], odds.key1)),
                           even_words.words[2], words[2] + at);
                     store(hn::ShiftLeft<32>(odds.product0), evens.product0, words[3] + at);
                   }
                 });
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
