// Random bits for stochastic rounding.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/numerics/random/philox.hpp"

namespace equarx::numerics {

/// Identifies the random bits of one call. The bits of an element depend only on seed, rank, hop
/// and element index, not on how a tensor is split into calls.
struct RoundingKey {
  std::uint64_t seed = 1;
  std::uint32_t rank = 0;
  std::uint32_t hop = 0;            ///< below 2^32 - 1; see rounding_stream()
  std::uint64_t first_element = 0;  ///< index of the call's first element in the tensor

  bool operator==(const RoundingKey&) const = default;
};

/// Elements per counter.
inline constexpr std::uint64_t kElementsPerCounter = 4;

/// Returns the fourth word of the counter (the third is the rank). 0 is reserved for inputs.hpp.
constexpr std::uint32_t rounding_stream(const RoundingKey& key) { return key.hop + 1; }

/// Returns the random words of the kElementsPerCounter elements from kElementsPerCounter x index.
inline PhiloxCounter rounding_words(const RoundingKey& key, std::uint64_t index) {
  constexpr int kWordBits = 32;
  return philox4x32(
      {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> kWordBits), key.rank,
       rounding_stream(key)},
      philox_key(key.seed));
}

/// Returns a uniform number on [0, 1) with 24 bits. A value is rounded away from zero if its
/// distance from the code towards zero, in steps, exceeds this number.
constexpr float unit_of(std::uint32_t word) {
  return static_cast<float>(static_cast<std::int32_t>(word >> 8)) * 0x1p-24F;
}

}  // namespace equarx::numerics
