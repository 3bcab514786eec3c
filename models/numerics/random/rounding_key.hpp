// What stochastic rounding draws its random bits from.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/numerics/random/philox.hpp"

namespace equarx::numerics {

/// Names the random bits of the elements of one call: those of an element depend on seed, rank, hop and
/// its number only, however a tensor is cut into calls.
struct RoundingKey {
  std::uint64_t seed = 1;
  std::uint32_t rank = 0;
  std::uint32_t hop = 0;            ///< below 2^32 - 1: 0 is the word of inputs.hpp in the counter
  std::uint64_t first_element = 0;  ///< of the call, in the tensor

  bool operator==(const RoundingKey&) const = default;
};

/// Elements that one counter serves.
inline constexpr std::uint64_t kElementsPerCounter = 4;

/// The words of the counter that are the same for all elements of a call: the third is the rank, and this
/// is the fourth, which is 0 for inputs.
constexpr std::uint32_t rounding_stream(const RoundingKey& key) { return key.hop + 1; }

/// The random words of elements kElementsPerCounter x index and the ones after it.
inline PhiloxCounter rounding_words(const RoundingKey& key, std::uint64_t index) {
  constexpr int kWordBits = 32;
  return philox4x32(
      {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> kWordBits), key.rank,
       rounding_stream(key)},
      philox_key(key.seed));
}

/// Uniform on [0, 1), of 24 bits: a value whose distance to the code below, in steps, is larger is
/// rounded away from zero.
constexpr float unit_of(std::uint32_t word) {
  return static_cast<float>(static_cast<std::int32_t>(word >> 8)) * 0x1p-24F;
}

}  // namespace equarx::numerics
