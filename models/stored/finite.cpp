#include "models/stored/finite.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace equarx::stored {

void check_finite(std::span<const float> values, const std::string& what, std::size_t first) {
  constexpr float kMost = std::numeric_limits<float>::max();
  int beyond = 0;  // a loop without branches becomes vectors
  for (const float value : values) beyond |= static_cast<int>(!(std::abs(value) <= kMost));
  if (beyond == 0) return;
  const auto found = std::ranges::find_if(values, [](float x) { return !std::isfinite(x); });
  const std::size_t index = first + static_cast<std::size_t>(found - values.begin());
  throw std::invalid_argument(what + " " + std::to_string(index) +
                              " is NaN or Inf; stored formats need finite values");
}

}  // namespace equarx::stored
