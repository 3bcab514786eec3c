// Checks of a tensor to encode, and its elements that keep full values.
#pragma once

#include <span>
#include <vector>

#include "models/stored/stored_format.hpp"

namespace equarx::stored {

/// Checks a format, the size of a tensor and the importance of its elements, as encode() needs them.
/// @throws std::invalid_argument
void check_tensor(const StoredFormat& format, const Shape& shape, std::span<const float> values,
                  std::span<const float> importance);

/// Marks elements apart: the largest, then the most important others; the first of equal ones.
std::vector<bool> apart_of(const StoredFormat& format, const Shape& shape,
                           std::span<const float> values, std::span<const float> importance);

}  // namespace equarx::stored
