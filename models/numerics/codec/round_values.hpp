// Values as an element type holds them.
#pragma once

#include <span>

#include "models/formats/block_format.hpp"

namespace equarx::numerics {

/// Rounds every value to the element type, in place: what BlockCodec without scales encodes and decodes.
/// std::invalid_argument for a type that is used with scales only.
void round_to_element(ElementFormat format, std::span<float> values);

}  // namespace equarx::numerics
