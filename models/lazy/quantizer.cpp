#include "models/lazy/quantizer.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

namespace equarx::lazy {
namespace {

/// R. @throws std::invalid_argument if a value is not finite
double largest_difference(std::span<const double> values, std::span<const double> known) {
  double largest = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]))
      throw std::invalid_argument(fmt::format("element {} is {}, not finite", i, values[i]));
    largest = std::max(largest, std::abs(values[i] - known[i]));
  }
  return largest;
}

}  // namespace

double quantize(std::span<const double> values, std::span<const double> known, std::uint32_t bits,
                std::span<double> quantized) {
  if (values.size() != known.size() || values.size() != quantized.size())
    throw std::invalid_argument("vectors to quantize differ in size");
  if (bits < 1 || bits > kMostBits)
    throw std::invalid_argument(fmt::format("{} bits per element; use 1 to {}", bits, kMostBits));
  const double range = largest_difference(values, known);
  const double half = range / (std::exp2(bits) - 1.0);
  double error = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    quantized[i] = known[i];
    if (range > 0.0)
      quantized[i] +=
          2.0 * half * std::floor((values[i] - known[i] + range + half) / (2.0 * half)) - range;
    error += (values[i] - quantized[i]) * (values[i] - quantized[i]);
  }
  return error;
}

std::uint64_t message_bits(std::size_t elements, std::optional<std::uint32_t> bits) {
  constexpr std::uint64_t kFp32 = 32;
  return bits ? kFp32 + std::uint64_t{*bits} * elements : kFp32 * elements;
}

}  // namespace equarx::lazy
