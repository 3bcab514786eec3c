#include "models/numerics/elements/float16.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "tests/catch.hpp"

namespace equarx::float16_test {

using namespace equarx::numerics;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr int kLargestCode = 0x7bff;

double magnitude(int code) {  // IEEE 754: bias 15, 10 mantissa bits
  const int exponent = code / 1024;
  return exponent == 0 ? std::ldexp(code % 1024, -24)
                       : std::ldexp(1024 + code % 1024, exponent - 25);
}

// Nearest code of a finite value, by bisection of the table; ties to the even code. The code after
// the largest finite one is Inf.
int nearest(float value) {
  const double size = std::abs(static_cast<double>(value));
  int below = 0;
  int above = kLargestCode + 1;
  if (size >= magnitude(above)) return above | (std::signbit(value) ? 0x8000 : 0);
  while (above - below > 1) {
    const int middle = (above + below) / 2;
    (magnitude(middle) <= size ? below : above) = middle;
  }
  const double down = size - magnitude(below);
  const double up = magnitude(above) - size;
  const int code = down < up || (down == up && below % 2 == 0) ? below : above;
  return code | (std::signbit(value) ? 0x8000 : 0);
}

void check_encode(float value) {
  if (fp16_from_float(value) != nearest(value))
    FAIL("value " << value << " has code " << fp16_from_float(value) << ", expected "
                  << nearest(value));
}

}  // namespace

TEST_CASE("fp16: decodes all codes") {
  for (int code = 0; code <= 0xffff; ++code) {
    const float value = float_from_fp16(static_cast<std::uint16_t>(code));
    const int size = code & 0x7fff;
    const bool right = size > 0x7c00    ? std::isnan(value)
                       : size == 0x7c00 ? std::isinf(value)
                                        : std::abs(value) == magnitude(size);
    if (!right || std::signbit(value) != (code >= 0x8000)) FAIL("code " << code << ": " << value);
  }
  SUCCEED();
}

TEST_CASE("fp16: rounding equals encoding and decoding") {
  const auto same = [](float value) {
    const float rounded = round_to_fp16(value);
    const float there_and_back = float_from_fp16(fp16_from_float(value));
    if (std::isnan(value)) return std::isnan(rounded);
    return rounded == there_and_back && std::signbit(rounded) == std::signbit(there_and_back);
  };
  constexpr std::uint32_t kStep = 4093;  // a prime, to reach all patterns of low bits
  for (std::uint64_t bits = 0; bits <= 0xffffffffU; bits += kStep)
    if (!same(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))) FAIL("bits " << bits);
  for (int code = 0; code <= kLargestCode; ++code) {  // around every midpoint
    const auto middle = static_cast<float>((magnitude(code) + magnitude(code + 1)) / 2);
    for (const float value : {std::nextafter(middle, 0.0F), middle, std::nextafter(middle, kInf)})
      if (!same(value) || !same(-value)) FAIL("value " << value);
  }
  for (const float value : {kInf, -kInf, 0.0F, -0.0F, std::numeric_limits<float>::quiet_NaN()})
    CHECK(same(value));
}

TEST_CASE("fp16: encodes to the nearest code, ties to even, at and around every midpoint") {
  for (int code = 0; code <= kLargestCode; ++code) {
    const auto low = static_cast<float>(magnitude(code));
    const auto middle = static_cast<float>((magnitude(code) + magnitude(code + 1)) / 2);
    for (float value : {low, middle}) {
      for (float near : {value, std::nextafter(value, -kInf), std::nextafter(value, kInf)}) {
        check_encode(near);
        check_encode(-near);
      }
    }
  }
  std::mt19937 bits(5);
  for (int i = 0; i < 100000; ++i) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits()));
    if (std::isfinite(value)) check_encode(value);
  }
  SUCCEED();
}

TEST_CASE("fp16: Inf, overflow and NaN") {
  REQUIRE(fp16_from_float(kInf) == 0x7c00);
  REQUIRE(fp16_from_float(-kInf) == 0xfc00);
  REQUIRE(fp16_from_float(65519.9F) == 0x7bff);
  REQUIRE(fp16_from_float(65520.0F) == 0x7c00);
  REQUIRE(fp16_from_float(std::bit_cast<float>(0x7f800001U)) == 0x7e00);
  REQUIRE(fp16_from_float(std::bit_cast<float>(0xffffffffU)) == 0xffff);
}

}  // namespace equarx::float16_test
