#include "models/lazy/quantizer.hpp"

#include <limits>
#include <stdexcept>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::lazy::quantizer_test {
namespace {

std::vector<double> quantized(const std::vector<double>& values, const std::vector<double>& known,
                              std::uint32_t bits) {
  std::vector<double> made(values.size());
  quantize(values, known, bits, made);
  return made;
}

TEST_CASE("three bits around a known vector, as quantd() of sunjunaimer/LAQ gives them") {
  const std::vector<double> made = quantized({0.3, -1.2, 0.05, 2.0}, {0.25, -1.0, 0.0, 1.5}, 3);
  const std::vector<double> expected = {0.321429, -1.214286, 0.071429, 2.0};
  for (std::size_t i = 0; i < made.size(); ++i) CHECK(made[i] == Approx(expected[i]).margin(1e-6));
}

TEST_CASE(
    "no element is off by more than half a distance of the grid, and the error is their sum") {
  const std::vector<double> values = {0.3, -1.2, 0.05, 2.0, 0.7};
  const std::vector<double> known = {0.25, -1.0, 0.0, 1.5, 0.7};
  for (std::uint32_t bits = 1; bits <= kMostBits; ++bits) {
    std::vector<double> made(values.size());
    const double error = quantize(values, known, bits, made);
    const double half = 0.5 / (static_cast<double>(1ULL << bits) - 1.0);
    double squares = 0.0;
    for (std::size_t i = 0; i < made.size(); ++i) {
      CHECK(std::abs(made[i] - values[i]) <= half * (1.0 + 1e-9));
      squares += (made[i] - values[i]) * (made[i] - values[i]);
    }
    CHECK(error == Approx(squares));
  }
}

TEST_CASE("a vector that has not changed stays as it is") {
  CHECK(quantized({1.0, -2.0}, {1.0, -2.0}, 1) == std::vector<double>{1.0, -2.0});
}

TEST_CASE("a message has the range and the codes, or FP32") {
  CHECK(message_bits(100, 3) == 332);
  CHECK(message_bits(100, std::nullopt) == 3200);
}

TEST_CASE("unsuitable vectors are refused") {
  std::vector<double> made(1);
  const std::vector<double> one = {1.0};
  const std::vector<double> two = {1.0, 2.0};
  const std::vector<double> not_finite = {std::numeric_limits<double>::quiet_NaN()};
  CHECK_THROWS_AS(quantize(two, one, 3, made), std::invalid_argument);
  CHECK_THROWS_AS(quantize(one, one, 0, made), std::invalid_argument);
  CHECK_THROWS_AS(quantize(one, one, kMostBits + 1, made), std::invalid_argument);
  CHECK_THROWS_AS(quantize(not_finite, one, 3, made), std::invalid_argument);
}

}  // namespace
}  // namespace equarx::lazy::quantizer_test
