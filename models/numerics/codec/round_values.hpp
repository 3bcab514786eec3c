// Rounding of values to element types.
#pragma once

#include <span>

#include "models/formats/block_format.hpp"
#include "models/numerics/random/rounding_key.hpp"

namespace equarx::numerics {

/// Rounds every value to the element type in place, as encoding and decoding by BlockCodec without
/// scales. Throws std::invalid_argument for a type that requires scales.
void round_to_element(ElementFormat format, std::span<float> values);

/// As round_to_element(), but stochastically without bias. Throws std::invalid_argument unless the
/// type is int8 or FP8.
void round_stochastically(ElementFormat format, std::span<float> values, const RoundingKey& key);

}  // namespace equarx::numerics
