// Loops of Global-QSGD's sign-and-exponent codes (codec/exponents.hpp), compiled for every instruction
// set and dispatched at run time. All give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/numerics/random/rounding_key.hpp"

namespace equarx::numerics::kernels::exponents {

/// Rounds values to codes, held as floats, with the random bits of `key`.
void round(std::span<float> values, const RoundingKey& key);

/// Adds the codes `terms` to `sums`, which are held as floats. Returns the number of doubled 1/2.
std::uint64_t add(const std::byte* terms, std::span<float> sums, const RoundingKey& key);

/// Codes of values; of other values, the code of the next lower power of two.
void store(std::span<const float> values, std::byte* codes);

/// Values of codes.
void load(const std::byte* codes, std::span<float> values);

}  // namespace equarx::numerics::kernels::exponents
