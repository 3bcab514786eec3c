// Transforms of a tensor before encoding.
#pragma once

#include <span>

#include "models/stored/stored_format.hpp"

namespace equarx::stored {

/// Multiplies columns by their factors, then rotates blocks of each row, in place and in FP32.
/// @throws std::invalid_argument if the format does not suit the shape
void transform(const Before& before, const Shape& shape, std::span<float> values);

/// Inverse of transform().
void transform_back(const Before& before, const Shape& shape, std::span<float> values);

}  // namespace equarx::stored
