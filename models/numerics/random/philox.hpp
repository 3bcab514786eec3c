// Philox4x32-10, a counter-based generator: a bijection of the counter selected by the key, so any
// part of its sequence can be computed in any order. Source: Salmon, Moraes, Dror and Shaw,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

namespace equarx::numerics {

/// Input of the generator, and its output: 128 bits, lowest word first.
using PhiloxCounter = std::array<std::uint32_t, 4>;
/// Selects a random stream: 64 bits, lowest word first.
using PhiloxKey = std::array<std::uint32_t, 2>;

namespace detail {

inline constexpr int kPhiloxRounds = 10;
inline constexpr int kPhiloxWordBits = 32;
// Multipliers and Weyl increments of the key (golden ratio, sqrt(3) - 1), from the paper.
inline constexpr std::uint32_t kPhiloxMultiplier0 = 0xD2511F53U;
inline constexpr std::uint32_t kPhiloxMultiplier1 = 0xCD9E8D57U;
inline constexpr std::uint32_t kPhiloxWeyl0 = 0x9E3779B9U;
inline constexpr std::uint32_t kPhiloxWeyl1 = 0xBB67AE85U;

inline PhiloxCounter philox_round(const PhiloxCounter& counter, const PhiloxKey& key,
                                  std::uint32_t round) {
  const std::uint64_t product0 = std::uint64_t{kPhiloxMultiplier0} * counter[0];
  const std::uint64_t product1 = std::uint64_t{kPhiloxMultiplier1} * counter[2];
  return {static_cast<std::uint32_t>(product1 >> kPhiloxWordBits) ^ counter[1] ^
              (key[0] + round * kPhiloxWeyl0),
          static_cast<std::uint32_t>(product1),
          static_cast<std::uint32_t>(product0 >> kPhiloxWordBits) ^ counter[3] ^
              (key[1] + round * kPhiloxWeyl1),
          static_cast<std::uint32_t>(product0)};
}

// Unrolled at compile time, so that loops over counters hoist the round keys.
template <std::uint32_t... kRounds>
PhiloxCounter philox_rounds(PhiloxCounter counter, const PhiloxKey& key,
                            std::integer_sequence<std::uint32_t, kRounds...>) {
  ((counter = philox_round(counter, key, kRounds)), ...);
  return counter;
}

}  // namespace detail

/// Returns the key of a seed.
constexpr PhiloxKey philox_key(std::uint64_t seed) {
  return {static_cast<std::uint32_t>(seed),
          static_cast<std::uint32_t>(seed >> detail::kPhiloxWordBits)};
}

/// Returns four random 32-bit words.
inline PhiloxCounter philox4x32(const PhiloxCounter& counter, const PhiloxKey& key) {
  return detail::philox_rounds(counter, key,
                               std::make_integer_sequence<std::uint32_t, detail::kPhiloxRounds>{});
}

}  // namespace equarx::numerics
