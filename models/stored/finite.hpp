// Refusal of values that are not finite.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace equarx::stored {

/// @throws std::invalid_argument naming the first value that is NaN or Inf: `what` and its index,
/// `first` for the first value
void check_finite(std::span<const float> values, const std::string& what, std::size_t first = 0);

}  // namespace equarx::stored
