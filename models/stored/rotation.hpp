// Transforms of a tensor before encoding.
#pragma once

#include <span>

#include "models/stored/stored_format.hpp"

namespace equarx::stored {

/// Multiplies columns by their factors, then rotates blocks of each row, in place and in FP32.
/// @throws std::invalid_argument if the format does not suit the shape
void transform(const Before& before, const Shape& shape, std::span<float> values);

/// Transforms rows of inputs in FP64, so that products with transformed weights stay equal.
/// @throws std::invalid_argument as transform()
void transform_inputs(const Before& before, std::size_t columns, std::span<double> inputs);

/// Inverse of transform().
void transform_back(const Before& before, const Shape& shape, std::span<float> values);

}  // namespace equarx::stored
