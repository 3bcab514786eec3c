#include "models/numerics/codec/ulp_counts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "models/numerics/codec/block_codec.hpp"
#include "models/numerics/codec/round_values.hpp"

namespace equarx::numerics {
namespace {

constexpr std::size_t kBitsPerByte = 8;

/// Position of a code of sign and magnitude among all codes of its type; 0 for both zeros.
std::int64_t position(std::uint32_t code, std::size_t bits) {
  const std::uint32_t sign = 1U << (bits - 1);
  const auto magnitude = static_cast<std::int64_t>(code & (sign - 1));
  return (code & sign) != 0 ? -magnitude : magnitude;
}

std::uint32_t load(std::span<const std::byte> codes, std::size_t index, std::size_t bytes) {
  std::uint32_t code = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    code |= std::to_integer<std::uint32_t>(codes[index * bytes + i]) << (kBitsPerByte * i);
  return code;
}

std::size_t class_of(std::uint64_t distance) {
  if (distance <= 2) return distance;
  return distance <= 4 ? 3 : distance <= 8 ? 4 : 5;
}

void count_nonfinite(float value, float reference, UlpCounts& counts) {
  const bool alike = (std::isnan(value) && std::isnan(reference)) || value == reference;
  ++(alike ? counts.equal_nonfinite : counts.nonfinite);
}

/// Nearest FP32 value towards zero, with the last bit set if that is not exact ("round to odd").
float sticky(double value) {
  auto rounded = static_cast<float>(value);
  if (double{rounded} == value || !std::isfinite(value)) return rounded;
  if (!std::isfinite(rounded)) return std::copysign(std::numeric_limits<float>::max(), rounded);
  if (std::fabs(double{rounded}) > std::fabs(value)) rounded = std::nextafter(rounded, 0.0F);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(rounded) | 1U);
}

}  // namespace

double UlpCounts::differing_share() const {
  return elements == 0 ? 0.0 : static_cast<double>(differing()) / static_cast<double>(elements);
}

UlpCounts& UlpCounts::operator+=(const UlpCounts& other) {
  elements += other.elements;
  for (std::size_t i = 0; i < kClasses; ++i) by_distance[i] += other.by_distance[i];
  nonfinite += other.nonfinite;
  equal_nonfinite += other.equal_nonfinite;
  most = std::max(most, other.most);
  return *this;
}

UlpCounts ulp_counts(ElementFormat type, std::span<const float> values,
                     std::span<const float> reference) {
  if (values.size() != reference.size())
    throw std::invalid_argument("the compared values differ in length");
  const BlockCodec codec({.element = type});
  const std::size_t bits = element_bits(type);
  const std::size_t bytes = bits / kBitsPerByte;
  std::vector<std::byte> codes(values.size() * bytes);
  std::vector<std::byte> others(values.size() * bytes);
  codec.quantize(values, 0, {}, codes);
  codec.quantize(reference, 0, {}, others);
  UlpCounts counts;
  counts.elements = values.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]) || !std::isfinite(reference[i])) {
      count_nonfinite(values[i], reference[i], counts);
      continue;
    }
    const auto distance = static_cast<std::uint64_t>(
        std::abs(position(load(codes, i, bytes), bits) - position(load(others, i, bytes), bits)));
    ++counts.by_distance[class_of(distance)];
    counts.most = std::max(counts.most, distance);
  }
  return counts;
}

void round_once(ElementFormat type, std::span<const double> exact, std::span<float> rounded) {
  if (exact.size() != rounded.size())
    throw std::invalid_argument("the rounded values differ in length");
  if (type == ElementFormat::fp32) {
    std::ranges::transform(exact, rounded.begin(),
                           [](double value) { return static_cast<float>(value); });
    return;
  }
  std::ranges::transform(exact, rounded.begin(), sticky);
  round_to_element(type, rounded);
}

}  // namespace equarx::numerics
