#include "models/numerics/errors/theory.hpp"

#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace equarx::numerics {

namespace {

void check_positive(std::uint64_t number, const char* what) {
  if (number == 0) throw std::invalid_argument(std::string(what) + " is 0: needs at least 1");
}

void append_arm(std::vector<std::uint32_t>& messages, std::uint32_t steps) {
  for (std::uint32_t step = 1; step <= steps; ++step) messages.push_back(step);
}

}  // namespace

double expected_squared_absmax(std::uint64_t elements) {
  check_positive(elements, "elements of a scale group");
  // E[M^2] = integral over m of 2 m P(M > m), P(M > m) = 1 - (1 - erfc(m / sqrt(2)))^elements.
  // Beyond kEnd the integrand is below 1e-60 even for 2^64 elements. Simpson's rule.
  constexpr double kEnd = 20.0;
  constexpr int kIntervals = 1 << 14;
  constexpr double kStep = kEnd / kIntervals;
  const auto n = static_cast<double>(elements);
  double sum = 0.0;  // the integrand is 0 at both ends
  for (int i = 1; i < kIntervals; ++i) {
    const double m = i * kStep;
    const double tail = std::erfc(m / std::numbers::sqrt2);
    const double above = -std::expm1(n * std::log1p(-tail));
    sum += (i % 2 == 1 ? 4.0 : 2.0) * 2.0 * m * above;
  }
  return sum * kStep / 3.0;
}

double uniform_quantizer_nmse(std::uint64_t elements, double largest_code) {
  const double squared_step = expected_squared_absmax(elements) / (largest_code * largest_code);
  const auto n = static_cast<double>(elements);
  return squared_step / 12.0 * ((n - 1.0) / n);
}

double mxint8_quantizer_nmse(std::uint64_t elements, double deviation) {
  check_positive(elements, "elements of a scale group");
  if (!(deviation > 0.0)) {
    throw std::invalid_argument("standard deviation " + std::to_string(deviation) +
                                ": needs to be above 0");
  }
  constexpr double kCodesPerUnit = 64.0;
  // Exponents relative to the deviation. The abs-max is hardly ever outside of 2^-40 to 2^5 of it.
  constexpr int kLowest = -40;
  constexpr int kHighest = 5;
  const auto n = static_cast<double>(elements);
  const auto below = [&](double absmax) {  // P(abs-max < absmax)
    return std::exp(n * std::log1p(-std::erfc(absmax / deviation / std::numbers::sqrt2)));
  };
  const int middle = std::ilogb(deviation);
  double squared_scale = 0.0;
  for (int exponent = middle + kLowest; exponent <= middle + kHighest; ++exponent) {
    const double scale = std::ldexp(1.0, exponent);
    squared_scale += scale * scale * (below(2.0 * scale) - below(scale));
  }
  return squared_scale / (12.0 * kCodesPerUnit * kCodesPerUnit * deviation * deviation);
}

std::vector<std::uint32_t> full_loop_messages(std::uint32_t ranks) {
  check_positive(ranks, "ranks");
  std::vector<std::uint32_t> messages;
  append_arm(messages, ranks - 1);
  return messages;
}

std::vector<std::uint32_t> semi_loop_messages(std::uint32_t ranks) {
  check_positive(ranks, "ranks");
  std::vector<std::uint32_t> messages;
  append_arm(messages, ranks / 2);
  append_arm(messages, ranks - ranks / 2 - 1);
  return messages;
}

std::vector<std::uint32_t> torus_messages(std::span<const std::uint32_t> lengths,
                                          RingMessages ring) {
  std::uint32_t ranks = 1;
  for (const std::uint32_t length : lengths) ranks *= length;
  check_positive(ranks, "ranks");
  std::vector<std::uint32_t> messages;
  std::uint32_t summed = 1;  // ranks in each term of this axis
  for (const std::uint32_t length : lengths) {
    const std::uint32_t rings = ranks / summed / length;
    for (std::uint32_t i = 0; i < rings; ++i)
      for (const std::uint32_t terms : ring(length)) messages.push_back(summed * terms);
    summed *= length;
  }
  return messages;
}

std::vector<std::uint32_t> direct_messages(std::uint32_t ranks) {
  check_positive(ranks, "ranks");
  return std::vector<std::uint32_t>(ranks - 1, 1);
}

std::vector<std::uint32_t> recursive_doubling_messages(std::uint32_t ranks) {
  if (!std::has_single_bit(ranks)) {
    throw std::invalid_argument(std::to_string(ranks) + " ranks: needs to be a power of two");
  }
  std::vector<std::uint32_t> messages;
  for (std::uint32_t summed = 1; summed < ranks; summed *= 2)
    messages.insert(messages.end(), ranks / summed, summed);
  return messages;
}

double allreduce_nmse(double quantizer_nmse, std::uint32_t ranks,
                      std::span<const std::uint32_t> ranks_in_message, bool gather_quantized) {
  check_positive(ranks, "ranks");
  const double reduce =
      std::accumulate(ranks_in_message.begin(), ranks_in_message.end(), 0.0) / ranks;
  return quantizer_nmse * (reduce + (gather_quantized ? 1.0 : 0.0));
}

double compounded_allreduce_nmse(double quantizer_nmse, std::uint32_t ranks,
                                 std::span<const std::uint32_t> ranks_in_message,
                                 bool gather_quantized) {
  check_positive(ranks, "ranks");
  double error = 0.0;  // of the arms that are done; powers in units of one rank's
  double arm_error = 0.0;
  std::uint32_t last = 0;
  for (const std::uint32_t summed : ranks_in_message) {
    if (summed <= last) error += std::exchange(arm_error, 0.0);
    arm_error += quantizer_nmse * (summed + arm_error);
    last = summed;
  }
  error += arm_error;
  if (gather_quantized) error += quantizer_nmse * (ranks + error);
  return error / ranks;
}

}  // namespace equarx::numerics
