#include "models/numerics/codec/ulp_counts.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "models/numerics/elements/bfloat16.hpp"
#include "tests/catch.hpp"

namespace equarx::numerics::ulp_counts_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

UlpCounts of(ElementFormat type, float value, float reference) {
  return ulp_counts(type, std::vector<float>{value}, std::vector<float>{reference});
}

}  // namespace

TEST_CASE("distances are in values of the type") {
  CHECK(of(ElementFormat::bf16, 1.0F, 1.0F).differing() == 0);
  CHECK(of(ElementFormat::bf16, 1.0F, 1.0078125F).most == 1);
  CHECK(of(ElementFormat::bf16, 1.0F, 0.99609375F).most == 1);
  CHECK(of(ElementFormat::fp32, 1.0F, std::nextafter(1.0F, 2.0F)).most == 1);
  CHECK(of(ElementFormat::fp16, 0x1p-24F, -0x1p-24F).most == 2);  // over both zeros
  CHECK(of(ElementFormat::fp8_e4m3, 448.0F, 416.0F).most == 1);
  CHECK(of(ElementFormat::bf16, 0.0F, -0.0F).differing() == 0);
}

TEST_CASE("NaN and Inf are counted apart") {
  CHECK(of(ElementFormat::bf16, kNan, kNan).differing() == 0);
  CHECK(of(ElementFormat::bf16, kInf, kInf).differing() == 0);
  for (const auto& [value, reference] : {std::pair{kInf, -kInf}, {kNan, 1.0F}, {1.0F, kInf}}) {
    const UlpCounts counts = of(ElementFormat::bf16, value, reference);
    CHECK(counts.nonfinite == 1);
    CHECK(counts.differing() == 1);
    CHECK(counts.most == 0);
  }
}

TEST_CASE("classes of distances") {
  std::vector<float> values;
  const std::vector<float> reference(10, 1.0F);
  for (int ulps = 0; ulps < 10; ++ulps) values.push_back(1.0F + static_cast<float>(ulps) * 0x1p-7F);
  const UlpCounts counts = ulp_counts(ElementFormat::bf16, values, reference);
  CHECK(counts.by_distance == std::array<std::uint64_t, 6>{1, 1, 1, 2, 4, 1});
  CHECK(counts.differing_share() == 0.9);
  UlpCounts twice = counts;
  twice += counts;
  CHECK(twice.elements == 20);
  CHECK(twice.most == 9);
}

TEST_CASE("exact values are rounded once") {
  // Between two BF16 values, a little above the middle: FP32 rounds it to the middle.
  const double above = 1.0 + 0x1p-8 + 0x1p-40;
  std::vector<float> rounded(3);
  round_once(ElementFormat::bf16, std::vector<double>{above, 1.0 + 0x1p-8, -above}, rounded);
  CHECK(rounded[0] == 1.0078125F);
  CHECK(rounded[1] == 1.0F);  // a tie, to even
  CHECK(rounded[2] == -1.0078125F);
  CHECK(bf16_from_float(static_cast<float>(above)) == bf16_from_float(1.0F));  // twice: wrong
}

TEST_CASE("rounding once equals a search for the nearest value") {
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> uniform(-2.0, 2.0);
  for (int i = 0; i < 10000; ++i) {
    const double exact = std::ldexp(uniform(random), static_cast<int>(random() % 20) - 10);
    std::vector<float> rounded(1);
    round_once(ElementFormat::bf16, std::vector<double>{exact}, rounded);
    for (const float step : {-1.0F, 1.0F}) {
      const auto bits =
          static_cast<std::uint16_t>(bf16_from_float(rounded[0]) + static_cast<int>(step));
      REQUIRE(std::fabs(double{rounded[0]} - exact) <=
              std::fabs(double{float_from_bf16(bits)} - exact));
    }
  }
}

TEST_CASE("blocks of pairs are counted as one by one") {
  std::mt19937 random(7);
  for (const ElementFormat type : {ElementFormat::bf16, ElementFormat::fp16, ElementFormat::fp32}) {
    std::vector<float> values(1000);
    std::vector<float> reference(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = std::normal_distribution<float>()(random);
      reference[i] = values[i] * (1.0F + static_cast<float>(random() % 5) / 256.0F);
      if (random() % 50 == 0) values[i] = std::numeric_limits<float>::infinity();
      if (random() % 50 == 0) reference[i] = std::nanf("");
      if (random() % 20 == 0) reference[i] = -reference[i];
    }
    UlpCounts single;
    for (std::size_t i = 0; i < values.size(); ++i)
      single +=
          ulp_counts(type, std::span(values).subspan(i, 1), std::span(reference).subspan(i, 1));
    const UlpCounts all = ulp_counts(type, values, reference);
    CHECK(all.elements == single.elements);
    CHECK(all.by_distance == single.by_distance);
    CHECK(all.most == single.most);
    CHECK(all.nonfinite == single.nonfinite);
    CHECK(all.equal_nonfinite == single.equal_nonfinite);
    CHECK(all.nonfinite > 0);
  }
}

TEST_CASE("spans of other lengths are refused") {
  CHECK_THROWS_AS(ulp_counts(ElementFormat::bf16, std::vector<float>(2), std::vector<float>(3)),
                  std::invalid_argument);
  std::vector<float> one(1);
  CHECK_THROWS_AS(round_once(ElementFormat::bf16, std::vector<double>(2), one),
                  std::invalid_argument);
}

}  // namespace equarx::numerics::ulp_counts_test
