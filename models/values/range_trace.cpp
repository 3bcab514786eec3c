#include "models/values/range_trace.hpp"

#include <algorithm>
#include <cmath>

#include "models/values/sum_arithmetic.hpp"

namespace equarx::values {
namespace {

float larger(float largest, float value) {
  const float size = std::fabs(value);
  return std::isfinite(size) ? std::max(largest, size) : largest;
}

}  // namespace

RangeEvents& RangeEvents::operator+=(const RangeEvents& other) {
  if (other.count == 0) return *this;
  if (count == 0 || other.element < element) {
    element = other.element;
    rank = other.rank;
    op = other.op;
  }
  count += other.count;
  return *this;
}

RangeCounts& RangeCounts::operator+=(const RangeCounts& other) {
  largest_input = std::max(largest_input, other.largest_input);
  largest_sum = std::max(largest_sum, other.largest_sum);
  overflows += other.overflows;
  saturations += other.saturations;
  underflows += other.underflows;
  return *this;
}

void RangeTrace::start(std::uint64_t first, std::size_t real) {
  first_ = first;
  real_ = real;
  counts_ = {};
}

void RangeTrace::add(RangeEvents& events, const Place& place, std::size_t index) const {
  events +=
      {.count = 1, .element = first_ + place.begin + index, .rank = place.rank, .op = place.op};
}

void RangeTrace::input(std::span<const float> values) {
  for (const float value : values) counts_.largest_input = larger(counts_.largest_input, value);
}

void RangeTrace::sums(const Place& place, std::span<const float> before,
                      std::span<const float> terms, std::span<const float> sums) {
  for (std::size_t i = 0; i < sums.size() && place.begin + i < real_; ++i) {
    counts_.largest_sum = larger(counts_.largest_sum, sums[i]);
    if (!std::isfinite(sums[i]) && std::isfinite(before[i]) && std::isfinite(terms[i]))
      add(counts_.overflows, place, i);
  }
}

void RangeTrace::conversion(const Place& place, numerics::ElementFormat type,
                            std::span<const float> before, std::span<const float> after) {
  const float largest = largest_value(type);
  for (std::size_t i = 0; i < after.size() && place.begin + i < real_; ++i) {
    if (!std::isfinite(before[i])) continue;
    if (!std::isfinite(after[i])) {
      add(counts_.overflows, place, i);
    } else if (after[i] == 0.0F && before[i] != 0.0F) {
      add(counts_.underflows, place, i);
    } else if (std::fabs(before[i]) > largest) {
      add(counts_.saturations, place, i);
    }
  }
}

}  // namespace equarx::values
