#include "models/numerics/inputs/inputs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include <hwy/highway.h>

#include "tests/catch.hpp"
#include "tests/support/reference_inputs.hpp"

namespace equarx::inputs_test {

using namespace equarx::numerics;

namespace {

std::vector<float> make(Distribution distribution, std::size_t count, std::uint64_t seed = 1,
                        std::uint32_t rank = 0, std::uint64_t first = 0) {
  std::vector<float> values(count);
  generate({distribution, seed, false}, rank, first, values);
  return values;
}

struct Moments {
  double mean = 0, variance = 0, skewness = 0, kurtosis = 0;
};

Moments moments(const std::vector<float>& values) {
  const auto count = static_cast<double>(values.size());
  Moments m;
  for (double x : values) m.mean += x / count;
  double third = 0;
  double fourth = 0;
  for (double x : values) {
    const double d = x - m.mean;
    m.variance += d * d / count;
    third += d * d * d / count;
    fourth += d * d * d * d / count;
  }
  m.skewness = third / std::pow(m.variance, 1.5);
  m.kurtosis = fourth / (m.variance * m.variance);
  return m;
}

// Kolmogorov-Smirnov statistic: sqrt(n) x largest distance of the distribution functions; exceeds
// 1.95 for one sample in a thousand.
template <class Cdf>
double kolmogorov_smirnov(std::vector<float> values, Cdf cdf) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  double distance = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = cdf(values[i]);
    distance = std::max({distance, expected - static_cast<double>(i) / count,
                         static_cast<double>(i + 1) / count - expected});
  }
  return distance * std::sqrt(count);
}

constexpr double kSmirnovLimit = 1.95;

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double uniform_cdf(double x) { return (x + 1) / 2; }
// Distribution function of Student's t with 3 degrees of freedom at sqrt(3) x.
double student_cdf(double x) { return 0.5 + (x / (1 + x * x) + std::atan(x)) / std::numbers::pi; }

// Correlation in units of its standard deviation under independence.
double correlation(const std::vector<float>& a, const std::vector<float>& b, std::size_t lag = 0) {
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i + lag < a.size(); ++i) {
    ab += static_cast<double>(a[i]) * b[i + lag];
    aa += static_cast<double>(a[i]) * a[i];
    bb += static_cast<double>(b[i + lag]) * b[i + lag];
  }
  return ab / std::sqrt(aa * bb) * std::sqrt(static_cast<double>(a.size()));
}

std::vector<float> centred_squares(std::vector<float> values) {
  for (float& value : values) value = value * value - 1.0F;
  return values;
}

std::uint64_t fnv1a(const std::vector<float>& values) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (float value : values) hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 0x100000001b3U;
  return hash;
}

constexpr std::size_t kSample = 1 << 20;
constexpr auto kAll = {Distribution::normal, Distribution::uniform, Distribution::heavy_tailed};

}  // namespace

TEST_CASE(
    "normal: mean 0, variance 1, skewness 0, kurtosis 3, and the normal distribution function") {
  const auto values = make(Distribution::normal, kSample, 11);
  const Moments m = moments(values);
  const double sigma = 1 / std::sqrt(static_cast<double>(kSample));
  REQUIRE(std::abs(m.mean) < 4.5 * sigma);
  REQUIRE(std::abs(m.variance - 1) < 4.5 * std::sqrt(2.0) * sigma);
  REQUIRE(std::abs(m.skewness) < 4.5 * std::sqrt(6.0) * sigma);
  REQUIRE(std::abs(m.kurtosis - 3) < 4.5 * std::sqrt(24.0) * sigma);
  REQUIRE(kolmogorov_smirnov(values, normal_cdf) < kSmirnovLimit);
}

TEST_CASE("normal: tail probabilities are right up to 5 sigma on both sides") {
  constexpr std::size_t kPieces = 32;
  std::array<double, 6> above{};
  std::array<double, 6> below{};
  for (std::size_t piece = 0; piece < kPieces; ++piece) {
    for (float x : make(Distribution::normal, kSample, 5, 0, piece * kSample)) {
      if (std::abs(x) < 3) continue;
      for (int limit = 3; limit <= 5; ++limit) {
        above[static_cast<std::size_t>(limit)] += x > static_cast<float>(limit);
        below[static_cast<std::size_t>(limit)] += x < static_cast<float>(-limit);
      }
    }
  }
  for (int limit = 3; limit <= 5; ++limit) {
    const double expected = normal_cdf(-limit) * kPieces * kSample;
    CAPTURE(limit, expected);
    REQUIRE(std::abs(above[static_cast<std::size_t>(limit)] - expected) < 4 * std::sqrt(expected));
    REQUIRE(std::abs(below[static_cast<std::size_t>(limit)] - expected) < 4 * std::sqrt(expected));
  }
}

TEST_CASE("uniform: from -1 up to 1, variance 1/3, kurtosis 9/5") {
  const auto values = make(Distribution::uniform, kSample, 12);
  const Moments m = moments(values);
  REQUIRE(*std::min_element(values.begin(), values.end()) >= -1.0F);
  REQUIRE(*std::max_element(values.begin(), values.end()) < 1.0F);
  REQUIRE(m.mean == Approx(0.0).margin(0.003));
  REQUIRE(m.variance == Approx(1.0 / 3).margin(0.002));
  REQUIRE(m.kurtosis == Approx(1.8).margin(0.01));
  REQUIRE(kolmogorov_smirnov(values, uniform_cdf) < kSmirnovLimit);
}

TEST_CASE("heavy-tailed: Student's t with 3 degrees of freedom and variance 1") {
  const auto values = make(Distribution::heavy_tailed, kSample, 13);
  REQUIRE(std::abs(moments(values).mean) < 0.005);
  // The fourth moment does not exist, so the sample variance converges slowly.
  REQUIRE(moments(values).variance == Approx(1.0).margin(0.1));
  REQUIRE(kolmogorov_smirnov(values, student_cdf) < kSmirnovLimit);
  const double expected = 2 * student_cdf(-30.0) * kSample;
  const auto far =
      std::count_if(values.begin(), values.end(), [](float x) { return std::abs(x) > 30.0F; });
  REQUIRE(std::abs(static_cast<double>(far) - expected) < 4 * std::sqrt(expected));
}

TEST_CASE("all synthetic values are finite") {
  for (Distribution distribution : kAll) {
    const auto values = make(distribution, kSample, 99, 7);
    REQUIRE(std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); }));
  }
}

TEST_CASE("synthetic values of elements, ranks and seeds are independent") {
  for (Distribution distribution : {Distribution::normal, Distribution::uniform}) {
    const auto values = make(distribution, kSample, 1, 0);
    CAPTURE(static_cast<int>(distribution));
    for (std::size_t lag : {1, 2, 3, 4, 63, 64, 65, 128, 192, 256, 512, 1024}) {
      CAPTURE(lag);
      REQUIRE(std::abs(correlation(values, values, lag)) < 4.5);
      if (distribution == Distribution::normal) {
        const auto squares = centred_squares(values);
        REQUIRE(std::abs(correlation(squares, squares, lag)) < 4.5);
      }
    }
    for (std::uint32_t rank : {1U, 2U, 255U, 0x80000000U}) {
      REQUIRE(std::abs(correlation(values, make(distribution, kSample, 1, rank))) < 4.5);
    }
    for (std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{1} << 32}) {
      REQUIRE(std::abs(correlation(values, make(distribution, kSample, seed))) < 4.5);
    }
  }
}

TEST_CASE("the halves of a heavy-tailed block differ") {
  const auto values = make(Distribution::heavy_tailed, 256);
  std::vector<float> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  REQUIRE(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
}

TEST_CASE("synthetic values do not depend on how a tensor is split into calls") {
  constexpr std::uint64_t kFar = (std::uint64_t{1} << 34) - 700;  // counters cross 2^32
  for (Distribution distribution : kAll) {
    for (std::uint64_t start : {std::uint64_t{0}, std::uint64_t{100}, kFar}) {
      const auto whole = make(distribution, 3000, 4, 2, start);
      for (std::size_t step : {1, 7, 64, 128, 255, 256, 257, 1000}) {
        std::vector<float> pieces;
        while (pieces.size() < whole.size()) {
          const std::size_t count = std::min(step, whole.size() - pieces.size());
          const auto piece = make(distribution, count, 4, 2, start + pieces.size());
          pieces.insert(pieces.end(), piece.begin(), piece.end());
        }
        REQUIRE(pieces == whole);
      }
    }
  }
}

TEST_CASE("synthetic values do not repeat after 2^32 and 2^34 elements") {
  const auto start = make(Distribution::normal, 512);
  REQUIRE(make(Distribution::normal, 512, 1, 0, std::uint64_t{1} << 32) != start);
  REQUIRE(make(Distribution::normal, 512, 1, 0, std::uint64_t{1} << 34) != start);
}

TEST_CASE("identical ranks get the values of rank 0") {
  std::vector<float> values(1000);
  generate({Distribution::normal, 8, true}, 5, 10, values);
  REQUIRE(values == make(Distribution::normal, 1000, 8, 0, 10));
  REQUIRE(values != make(Distribution::normal, 1000, 8, 5, 10));
}

TEST_CASE("synthetic values match the reference bit for bit on every target") {
  constexpr std::uint64_t kFar = (std::uint64_t{1} << 34) - 700;  // counters cross 2^32
  for (Distribution distribution : kAll) {
    for (std::uint64_t start : {std::uint64_t{0}, std::uint64_t{100}, kFar}) {
      const InputSpec spec{distribution, 0xfedcba9876543210, false};
      std::vector<float> expected;
      for (std::uint64_t e = 0; e < 20000; ++e)
        expected.push_back(equarx::testing::reference_input(spec, 0x80000001U, start + e));
      for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        INFO("on " << hwy::TargetName(target));
        REQUIRE(fnv1a(make(distribution, 20000, spec.seed, 0x80000001U, start)) == fnv1a(expected));
        hwy::SetSupportedTargetsForTest(0);
      }
    }
  }
}

TEST_CASE("synthetic values are the same with every compiler and optimisation level") {
  REQUIRE(fnv1a(make(Distribution::normal, 100000, 42, 3, 17)) == 0x20d178b983890b8e);
  REQUIRE(fnv1a(make(Distribution::uniform, 100000, 42, 3, 17)) == 0xd5f7e6ce4a60205f);
  REQUIRE(fnv1a(make(Distribution::heavy_tailed, 100000, 42, 3, 17)) == 0x878e1025d140f403);
}

}  // namespace equarx::inputs_test
