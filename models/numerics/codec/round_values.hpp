// Values as an element type holds them.
#pragma once

#include <span>

#include "models/formats/block_format.hpp"
#include "models/numerics/random/rounding_key.hpp"

namespace equarx::numerics {

/// Rounds every value to the element type, in place: what BlockCodec without scales encodes and decodes.
/// std::invalid_argument for a type that is used with scales only.
void round_to_element(ElementFormat format, std::span<float> values);

/// The same up or down, with the probabilities that make the mean right: of int8 and FP8. std::invalid_argument for others.
void round_stochastically(ElementFormat format, std::span<float> values, const RoundingKey& key);

}  // namespace equarx::numerics
