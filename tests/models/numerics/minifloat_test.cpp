#include "models/numerics/minifloat.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/catch.hpp"

using namespace equarx::numerics;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

struct E4m3Truth {
  using Format = Fp8E4m3;
  static constexpr int kLargestCode = 0x7e;
  static double magnitude(int code) {  // OFP8: bias 7, 3 mantissa bits
    const int exponent = code / 8;
    return exponent == 0 ? std::ldexp(code % 8, -9) : std::ldexp(8 + code % 8, exponent - 10);
  }
  static bool nan(int code) { return code == 0x7f; }
};

struct E5m2Truth {
  using Format = Fp8E5m2;
  static constexpr int kLargestCode = 0x7b;
  static double magnitude(int code) {  // OFP8: bias 15, 2 mantissa bits
    if (code == 0x7c) return HUGE_VAL;
    const int exponent = code / 4;
    return exponent == 0 ? std::ldexp(code % 4, -16) : std::ldexp(4 + code % 4, exponent - 17);
  }
  static bool nan(int code) { return code > 0x7c; }
};

// Nearest code of a finite value, by looking at all of them; ties to the even code.
template <class Truth>
int nearest(float value) {
  // Saturated first: distances of far larger values would all round to the same number.
  const double size =
      std::min(std::abs(static_cast<double>(value)), Truth::magnitude(Truth::kLargestCode));
  int best = 0;
  for (int code = 1; code <= Truth::kLargestCode; ++code) {
    const double distance = std::abs(size - Truth::magnitude(code));
    const double best_distance = std::abs(size - Truth::magnitude(best));
    if (distance < best_distance || (distance == best_distance && code % 2 == 0)) best = code;
  }
  return best | (std::signbit(value) ? 0x80 : 0);
}

template <class Truth>
void check_encode(float value) {
  const int code = Truth::Format::encode(value);
  if (code != nearest<Truth>(value)) {
    FAIL("value " << value << " has code " << code << ", expected " << nearest<Truth>(value));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("decodes all 256 codes", "", E4m3Truth, E5m2Truth) {
  for (int code = 0; code < 256; ++code) {
    const float decoded = TestType::Format::decode(static_cast<std::uint8_t>(code));
    CAPTURE(code);
    if (TestType::nan(code & 0x7f)) {
      REQUIRE(std::isnan(decoded));
    } else {
      REQUIRE(std::abs(decoded) == TestType::magnitude(code & 0x7f));
      REQUIRE(std::signbit(decoded) == (code >= 128));
    }
  }
}

TEMPLATE_TEST_CASE(
    "encodes to the nearest code, ties to even, at every midpoint and its neighbours", "",
    E4m3Truth, E5m2Truth) {
  for (int code = 0; code < TestType::kLargestCode; ++code) {
    const auto low = static_cast<float>(TestType::magnitude(code));
    const auto high = static_cast<float>(TestType::magnitude(code + 1));
    const float middle = (low + high) / 2;
    for (float value : {low, middle, high}) {
      for (float near : {value, std::nextafter(value, -kInf), std::nextafter(value, kInf)}) {
        check_encode<TestType>(near);
        check_encode<TestType>(-near);
      }
    }
  }
  SUCCEED();
}

TEMPLATE_TEST_CASE("encodes random floats of every exponent to the nearest code", "", E4m3Truth,
                   E5m2Truth) {
  std::mt19937 bits(3);
  for (int i = 0; i < 50000; ++i) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits()));
    if (std::isfinite(value)) check_encode<TestType>(value);
  }
  std::uniform_real_distribution<float> exponents(-20.0F, 18.0F);
  for (int i = 0; i < 50000; ++i) check_encode<TestType>(std::exp2(exponents(bits)));
  SUCCEED();
}

TEMPLATE_TEST_CASE("decode then encode gives every code that is not NaN back", "", E4m3Truth,
                   E5m2Truth) {
  for (int code = 0; code < 256; ++code) {
    if (TestType::nan(code & 0x7f)) continue;
    const float value = TestType::Format::decode(static_cast<std::uint8_t>(code));
    REQUIRE(TestType::Format::encode(value) == code);
  }
}

TEMPLATE_TEST_CASE("finite values saturate", "", E4m3Truth, E5m2Truth) {
  using Format = typename TestType::Format;
  const float largest = Format::kMaxFinite;
  for (float value : {largest, std::nextafter(largest, kInf), largest * 1.05F, largest * 2.0F,
                      largest * 1e6F, std::numeric_limits<float>::max()}) {
    REQUIRE(Format::encode(value) == TestType::kLargestCode);
    REQUIRE(Format::encode(-value) == (TestType::kLargestCode | 0x80));
  }
}

TEST_CASE("largest values are 448 and 57344") {
  REQUIRE(Fp8E4m3::kMaxFinite == 448.0F);
  REQUIRE(Fp8E5m2::kMaxFinite == 57344.0F);
}

TEST_CASE("Inf is Inf in E5M2, and NaN in E4M3, which has none") {
  REQUIRE(Fp8E5m2::encode(kInf) == 0x7c);
  REQUIRE(Fp8E5m2::encode(-kInf) == 0xfc);
  REQUIRE(Fp8E4m3::encode(kInf) == 0x7f);
  REQUIRE(Fp8E4m3::encode(-kInf) == 0xff);
}

TEST_CASE("NaN stays NaN of its sign, whatever its payload") {
  for (std::uint32_t bits : {0x7f800001U, 0x7fc00000U, 0x7fffffffU}) {
    const float nan = std::bit_cast<float>(bits);
    const float negative = std::bit_cast<float>(bits | 0x80000000U);
    REQUIRE(Fp8E4m3::encode(nan) == 0x7f);
    REQUIRE(Fp8E4m3::encode(negative) == 0xff);
    REQUIRE(Fp8E5m2::encode(nan) == 0x7e);
    REQUIRE(Fp8E5m2::encode(negative) == 0xfe);
  }
}

TEST_CASE("zeros keep their sign, and float subnormals become zeros") {
  REQUIRE(Fp8E4m3::encode(0.0F) == 0x00);
  REQUIRE(Fp8E4m3::encode(-0.0F) == 0x80);
  REQUIRE(Fp8E5m2::encode(std::numeric_limits<float>::denorm_min()) == 0x00);
  REQUIRE(Fp8E5m2::encode(-std::numeric_limits<float>::denorm_min()) == 0x80);
}
