// Philox4x32-10, a counter-based generator: a bijection of the counter, chosen by the key. Any part
// of its sequence can be made in any order. Source: Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

namespace equarx::numerics {

/// What is turned into random bits: 128 bits, lowest word first.
using PhiloxCounter = std::array<std::uint32_t, 4>;
/// Which stream of random bits: 64 bits, lowest word first.
using PhiloxKey = std::array<std::uint32_t, 2>;

namespace detail {

inline constexpr int kPhiloxRounds = 10;

inline PhiloxCounter philox_round(const PhiloxCounter& counter, const PhiloxKey& key,
                                  std::uint32_t round) {
  // Multipliers, and Weyl increments of the key (golden ratio, sqrt(3) - 1), from the paper.
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53U;
  constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57U;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9U;
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85U;
  constexpr int kWordBits = 32;
  const std::uint64_t product0 = kMultiplier0 * counter[0];
  const std::uint64_t product1 = kMultiplier1 * counter[2];
  return {
      static_cast<std::uint32_t>(product1 >> kWordBits) ^ counter[1] ^ (key[0] + round * kWeyl0),
      static_cast<std::uint32_t>(product1),
      static_cast<std::uint32_t>(product0 >> kWordBits) ^ counter[3] ^ (key[1] + round * kWeyl1),
      static_cast<std::uint32_t>(product0)};
}

// Unrolled by the language, so that a loop over counters is an innermost loop and vectorises.
template <std::uint32_t... kRounds>
PhiloxCounter philox_rounds(PhiloxCounter counter, const PhiloxKey& key,
                            std::integer_sequence<std::uint32_t, kRounds...>) {
  ((counter = philox_round(counter, key, kRounds)), ...);
  return counter;
}

}  // namespace detail

/// Four random words of 32 bits.
inline PhiloxCounter philox4x32(const PhiloxCounter& counter, const PhiloxKey& key) {
  return detail::philox_rounds(counter, key,
                               std::make_integer_sequence<std::uint32_t, detail::kPhiloxRounds>{});
}

}  // namespace equarx::numerics
