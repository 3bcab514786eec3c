#include "models/values/range_trace.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "models/values/sum_arithmetic.hpp"

namespace equarx::values {
namespace {

constexpr std::uint32_t kMagnitude = 0x7fffffff;
constexpr std::uint32_t kInfinity = 0x7f800000;

/// Largest magnitude as bits, which are in the order of magnitudes; NaN is above Inf. Integers,
/// because compilers vectorize their maximum.
std::uint32_t largest_bits(std::span<const float> values) {
  std::uint32_t largest = 0;
  for (const float value : values)
    largest = std::max(largest, std::bit_cast<std::uint32_t>(value) & kMagnitude);
  return largest;
}

/// Largest finite magnitude.
float largest_finite(std::span<const float> values) {
  const std::uint32_t all = largest_bits(values);
  if (all < kInfinity) return std::bit_cast<float>(all);
  float largest = 0.0F;
  for (const float value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  return largest;
}

/// True if any value is beyond `largest` or becomes zero.
bool leaves_range(float largest, std::span<const float> before, std::span<const float> after) {
  const auto limit = std::bit_cast<std::uint32_t>(largest);
  std::uint32_t found = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::uint32_t from = std::bit_cast<std::uint32_t>(before[i]) & kMagnitude;
    const std::uint32_t to = std::bit_cast<std::uint32_t>(after[i]) & kMagnitude;
    found |= static_cast<std::uint32_t>(from > limit) |
             (static_cast<std::uint32_t>(to == 0) & static_cast<std::uint32_t>(from != 0));
  }
  return found != 0;
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
  events += {.count = place.ranks,
             .element = first_ + place.begin + index,
             .rank = place.rank,
             .op = place.op};
}

void RangeTrace::input(std::span<const float> values) {
  counts_.largest_input = std::max(counts_.largest_input, largest_finite(values));
}

void RangeTrace::sums(const Place& place, std::span<const float> before,
                      std::span<const float> terms, std::span<const float> sums) {
  sums = real_part(place, sums);
  counts_.largest_sum = std::max(counts_.largest_sum, largest_finite(sums));
  if (largest_bits(sums) < kInfinity) return;
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (!std::isfinite(sums[i]) && std::isfinite(before[i]) && std::isfinite(terms[i]))
      add(counts_.overflows, place, i);
}

void RangeTrace::conversion(const Place& place, numerics::ElementFormat type,
                            std::span<const float> before, std::span<const float> after) {
  const float largest = largest_value(type);
  after = real_part(place, after);
  before = before.first(after.size());
  if (!leaves_range(largest, before, after)) return;
  for (std::size_t i = 0; i < after.size(); ++i) {
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

/// The part without padding.
std::span<const float> RangeTrace::real_part(const Place& place,
                                             std::span<const float> values) const {
  return values.first(std::min(values.size(), real_ - std::min(real_, place.begin)));
}

}  // namespace equarx::values
