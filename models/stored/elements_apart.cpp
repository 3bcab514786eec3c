#include "models/stored/elements_apart.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "models/stored/finite.hpp"

namespace equarx::stored {
namespace {

void check_importance(const StoredFormat& format, std::size_t elements,
                      std::span<const float> importance) {
  if (importance.empty()) {
    if (needs_importance(format))
      throw std::invalid_argument("the format needs the importance of each element");
    return;
  }
  if (importance.size() != elements)
    throw std::invalid_argument("importance of " + std::to_string(importance.size()) +
                                " elements for a tensor of " + std::to_string(elements));
  check_finite(importance, "importance");
  if (std::ranges::any_of(importance, [](float x) { return x < 0.0F; }))
    throw std::invalid_argument("importance is negative; give squared gradients");
}

/// Marks the `count` unmarked elements of largest `rank`; the first of equal ones.
void mark_largest(std::span<const float> rank, std::size_t count, std::vector<bool>& marked) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rank.size(); ++i)
    if (!marked[i]) order.push_back(i);
  const auto last = order.begin() + static_cast<std::ptrdiff_t>(std::min(count, order.size()));
  std::nth_element(order.begin(), last, order.end(), [&](std::size_t a, std::size_t b) {
    return rank[a] != rank[b] ? rank[a] > rank[b] : a < b;
  });
  std::for_each(order.begin(), last, [&](std::size_t i) { marked[i] = true; });
}

}  // namespace

std::vector<bool> apart_of(const StoredFormat& format, const Shape& shape,
                           std::span<const float> values, std::span<const float> importance) {
  std::vector<bool> apart(values.size(), false);
  std::vector<float> sizes(values.size());
  std::ranges::transform(values, sizes.begin(), [](float x) { return std::abs(x); });
  mark_largest(sizes, largest_count(format, shape), apart);
  if (const std::size_t count = important_count(format, shape); count > 0)
    mark_largest(importance, count, apart);
  return apart;
}

void check_tensor(const StoredFormat& format, const Shape& shape, std::span<const float> values,
                  std::span<const float> importance) {
  check(format);
  if (values.size() != shape.elements())
    throw std::invalid_argument("the shape has " + std::to_string(shape.elements()) +
                                " elements, not " + std::to_string(values.size()));
  check_importance(format, values.size(), importance);
}

}  // namespace equarx::stored
