#include "models/numerics/elements/minifloat.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::minifloat_test {

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
  static bool nan(int code) { return (code & 0x7f) == 0x7f; }
};

struct E5m2Truth {
  using Format = Fp8E5m2;
  static constexpr int kLargestCode = 0x7b;
  static double magnitude(int code) {  // OFP8: bias 15, 2 mantissa bits
    if (code == 0x7c) return HUGE_VAL;
    const int exponent = code / 4;
    return exponent == 0 ? std::ldexp(code % 4, -16) : std::ldexp(4 + code % 4, exponent - 17);
  }
  static bool nan(int code) { return (code & 0x7f) > 0x7c; }
};

// arXiv 2206.02915: (-1)^sign 2^(exponent - bias) (1 + mantissa / 8), with subnormals; the code of
// -0 is NaN, and all others are finite.
struct E4m3FnuzTruth {
  using Format = Fp8E4m3Fnuz;
  static constexpr int kLargestCode = 0x7f;
  static double magnitude(int code) {
    const int exponent = code >> 3;
    const double fraction = (code & 7) / 8.0;
    return exponent == 0 ? std::exp2(1 - 8) * fraction : std::exp2(exponent - 8) * (1 + fraction);
  }
  static bool nan(int code) { return code == 0x80; }
};

struct E5m2FnuzTruth {
  using Format = Fp8E5m2Fnuz;
  static constexpr int kLargestCode = 0x7f;
  static double magnitude(int code) {
    const int exponent = code >> 2;
    const double fraction = (code & 3) / 4.0;
    return exponent == 0 ? std::exp2(1 - 16) * fraction : std::exp2(exponent - 16) * (1 + fraction);
  }
  static bool nan(int code) { return code == 0x80; }
};

// OCP MX v1.0, section 5.3: no Inf and no NaN.
struct E2m3Truth {
  using Format = Fp6E2m3;
  static constexpr int kLargestCode = 0x1f;
  static double magnitude(int code) {  // bias 1
    const int exponent = code / 8;
    return exponent == 0 ? std::ldexp(code % 8, -3) : std::ldexp(8 + code % 8, exponent - 4);
  }
  static bool nan(int) { return false; }
};

struct E3m2Truth {
  using Format = Fp6E3m2;
  static constexpr int kLargestCode = 0x1f;
  static double magnitude(int code) {  // bias 3
    const int exponent = code / 4;
    return exponent == 0 ? std::ldexp(code % 4, -4) : std::ldexp(4 + code % 4, exponent - 5);
  }
  static bool nan(int) { return false; }
};

struct E2m1Truth {
  using Format = Fp4E2m1;
  static constexpr int kLargestCode = 0x07;
  static double magnitude(int code) {
    constexpr double kAll[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    return kAll[code];
  }
  static bool nan(int) { return false; }
};

using AllTruths =
    std::tuple<E4m3Truth, E5m2Truth, E4m3FnuzTruth, E5m2FnuzTruth, E2m3Truth, E3m2Truth, E2m1Truth>;

// Nearest code of a finite value, by exhaustive search; ties to the even code.
template <class Truth>
int nearest(float value) {
  // Saturates first: the distances of far larger values would all round to the same number.
  const double size =
      std::min(std::abs(static_cast<double>(value)), Truth::magnitude(Truth::kLargestCode));
  int best = 0;
  for (int code = 1; code <= Truth::kLargestCode; ++code) {
    const double distance = std::abs(size - Truth::magnitude(code));
    const double best_distance = std::abs(size - Truth::magnitude(best));
    if (distance < best_distance || (distance == best_distance && code % 2 == 0)) best = code;
  }
  const int code = best | (std::signbit(value) ? Truth::Format::kSignCode : 0);
  return best == 0 && Truth::nan(code) ? 0 : code;  // formats without -0
}

template <class Truth>
void check_encode(float value) {
  const int code = Truth::Format::encode(value);
  if (code != nearest<Truth>(value)) {
    FAIL("value " << value << " has code " << code << ", expected " << nearest<Truth>(value));
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("decodes all codes", "", AllTruths) {
  constexpr int kSign = TestType::Format::kSignCode;
  for (int code = 0; code < 2 * kSign; ++code) {
    const float decoded = TestType::Format::decode(static_cast<std::uint8_t>(code));
    CAPTURE(code);
    if (TestType::nan(code)) {
      REQUIRE(std::isnan(decoded));
    } else {
      REQUIRE(std::abs(decoded) == TestType::magnitude(code & (kSign - 1)));
      REQUIRE(std::signbit(decoded) == (code >= kSign));
    }
  }
}

TEMPLATE_LIST_TEST_CASE(
    "encodes to the nearest code, ties to even, at every midpoint and its neighbours", "",
    AllTruths) {
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

TEMPLATE_LIST_TEST_CASE("encodes random floats of every exponent to the nearest code", "",
                        AllTruths) {
  std::mt19937 bits(3);
  for (int i = 0; i < 50000; ++i) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits()));
    if (std::isfinite(value)) check_encode<TestType>(value);
  }
  std::uniform_real_distribution<float> exponents(-20.0F, 18.0F);
  for (int i = 0; i < 50000; ++i) check_encode<TestType>(std::exp2(exponents(bits)));
  SUCCEED();
}

TEMPLATE_LIST_TEST_CASE("all codes except NaN round-trip through decoding", "", AllTruths) {
  for (int code = 0; code < 2 * TestType::Format::kSignCode; ++code) {
    if (TestType::nan(code)) continue;
    const float value = TestType::Format::decode(static_cast<std::uint8_t>(code));
    REQUIRE(TestType::Format::encode(value) == code);
  }
}

TEMPLATE_LIST_TEST_CASE("finite values saturate", "", AllTruths) {
  using Format = typename TestType::Format;
  const float largest = Format::kMaxFinite;
  for (float value : {largest, std::nextafter(largest, kInf), largest * 1.05F, largest * 2.0F,
                      largest * 1e6F, std::numeric_limits<float>::max()}) {
    REQUIRE(Format::encode(value) == TestType::kLargestCode);
    REQUIRE(Format::encode(-value) == (TestType::kLargestCode | Format::kSignCode));
  }
}

TEST_CASE("largest finite values of small floats") {
  REQUIRE(Fp6E2m3::kMaxFinite == 7.5F);
  REQUIRE(Fp6E3m2::kMaxFinite == 28.0F);
  REQUIRE(Fp4E2m1::kMaxFinite == 6.0F);
  REQUIRE(Fp8E4m3::kMaxFinite == 448.0F);
  REQUIRE(Fp8E5m2::kMaxFinite == 57344.0F);
  REQUIRE(Fp8E4m3Fnuz::kMaxFinite == 240.0F);
  REQUIRE(Fp8E5m2Fnuz::kMaxFinite == 57344.0F);
}

TEST_CASE("FNUZ codes by hand") {
  REQUIRE(Fp8E4m3Fnuz::decode(0x01) == 0x1p-10F);
  REQUIRE(Fp8E4m3Fnuz::decode(0x08) == 0x1p-7F);
  REQUIRE(Fp8E4m3Fnuz::decode(0x40) == 1.0F);
  REQUIRE(Fp8E4m3Fnuz::decode(0xff) == -240.0F);
  REQUIRE(Fp8E5m2Fnuz::decode(0x01) == 0x1p-17F);
  REQUIRE(Fp8E5m2Fnuz::decode(0x04) == 0x1p-15F);
  REQUIRE(Fp8E5m2Fnuz::decode(0x40) == 1.0F);
  REQUIRE(Fp8E5m2Fnuz::decode(0xff) == -57344.0F);
}

TEST_CASE("in formats without Inf and NaN, Inf saturates and NaN becomes zero") {
  REQUIRE(Fp6E2m3::encode(kInf) == 0x1f);
  REQUIRE(Fp6E3m2::encode(-kInf) == 0x3f);
  REQUIRE(Fp4E2m1::encode(-kInf) == 0x0f);
  REQUIRE(Fp4E2m1::decode(Fp4E2m1::encode(std::numeric_limits<float>::quiet_NaN())) == 0.0F);
  REQUIRE(Fp6E2m3::decode(Fp6E2m3::encode(-std::numeric_limits<float>::quiet_NaN())) == 0.0F);
}

TEST_CASE("Inf stays Inf in E5M2 and becomes NaN in E4M3, which has no Inf") {
  REQUIRE(Fp8E5m2::encode(kInf) == 0x7c);
  REQUIRE(Fp8E5m2::encode(-kInf) == 0xfc);
  REQUIRE(Fp8E4m3::encode(kInf) == 0x7f);
  REQUIRE(Fp8E4m3::encode(-kInf) == 0xff);
}

TEST_CASE("FNUZ formats have one NaN and no -0") {
  for (const float value : {kInf, -kInf, std::numeric_limits<float>::quiet_NaN(),
                            -std::numeric_limits<float>::quiet_NaN()}) {
    REQUIRE(Fp8E4m3Fnuz::encode(value) == 0x80);
    REQUIRE(Fp8E5m2Fnuz::encode(value) == 0x80);
    REQUIRE(Fp8E4m3Fnuz::encode_stochastic(value, 0) == 0x80);
  }
  for (const float value : {-0.0F, -std::numeric_limits<float>::denorm_min(), -0x1p-18F, 0.0F}) {
    REQUIRE(Fp8E4m3Fnuz::encode(value) == 0x00);
    REQUIRE(Fp8E5m2Fnuz::encode(value) == 0x00);
    REQUIRE(Fp8E4m3Fnuz::encode_stochastic(value, ~0U) == 0x00);
  }
}

TEST_CASE("NaN keeps its sign for any payload") {
  for (std::uint32_t bits : {0x7f800001U, 0x7fc00000U, 0x7fffffffU}) {
    const float nan = std::bit_cast<float>(bits);
    const float negative = std::bit_cast<float>(bits | 0x80000000U);
    REQUIRE(Fp8E4m3::encode(nan) == 0x7f);
    REQUIRE(Fp8E4m3::encode(negative) == 0xff);
    REQUIRE(Fp8E5m2::encode(nan) == 0x7e);
    REQUIRE(Fp8E5m2::encode(negative) == 0xfe);
  }
}

TEST_CASE("zeros keep their sign, and FP32 subnormals become zeros") {
  REQUIRE(Fp8E4m3::encode(0.0F) == 0x00);
  REQUIRE(Fp8E4m3::encode(-0.0F) == 0x80);
  REQUIRE(Fp8E5m2::encode(std::numeric_limits<float>::denorm_min()) == 0x00);
  REQUIRE(Fp8E5m2::encode(-std::numeric_limits<float>::denorm_min()) == 0x80);
}

}  // namespace equarx::minifloat_test
