#include "models/numerics/errors/metrics.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::metrics_test {

using namespace equarx::numerics;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

ErrorMetrics measure(const std::vector<float>& values, const std::vector<double>& exact) {
  ErrorAccumulator errors;
  errors.add(values, exact);
  return errors.metrics();
}

bool same_bits(const ErrorMetrics& a, const ErrorMetrics& b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

struct Sample {
  std::vector<float> values;
  std::vector<double> exact;
};

Sample random_sample(std::size_t count) {
  std::mt19937 bits(1);
  std::normal_distribution<double> normal;
  Sample sample;
  for (std::size_t i = 0; i < count; ++i) {
    sample.exact.push_back(normal(bits));
    sample.values.push_back(static_cast<float>(sample.exact.back() + 0.1 * normal(bits) + 0.01));
  }
  return sample;
}

}  // namespace

TEST_CASE("metrics of a small sample match values computed by hand") {
  const ErrorMetrics m = measure({1.0F, 2.0F, -4.0F}, {1.0, 3.0, -2.0});  // errors 0, -1, -2
  REQUIRE(m.count == 3);
  REQUIRE(m.mse == Approx(5.0 / 3));
  REQUIRE(m.nmse == Approx(5.0 / 14));
  REQUIRE(m.sqnr_db == Approx(10 * std::log10(14.0 / 5)));
  REQUIRE(m.max_abs_error == 2.0);
  REQUIRE(m.mean_signed_error == Approx(-1.0));
  REQUIRE(m.cosine_similarity == Approx(15.0 / std::sqrt(21.0 * 14.0)));
}

TEST_CASE("metrics match plain sums over a long sample") {
  const Sample sample = random_sample(10007);
  long double squared = 0, signal = 0, power = 0, product = 0, bias = 0, largest = 0;
  for (std::size_t i = 0; i < sample.values.size(); ++i) {
    const long double error = static_cast<long double>(sample.values[i]) - sample.exact[i];
    squared += error * error;
    signal += static_cast<long double>(sample.exact[i]) * sample.exact[i];
    power += static_cast<long double>(sample.values[i]) * sample.values[i];
    product += static_cast<long double>(sample.values[i]) * sample.exact[i];
    bias += error;
    largest = std::max(largest, std::abs(error));
  }
  const ErrorMetrics m = measure(sample.values, sample.exact);
  const auto close = [](long double x) { return Approx(static_cast<double>(x)).epsilon(1e-12); };
  REQUIRE(m.mse == close(squared / 10007));
  REQUIRE(m.nmse == close(squared / signal));
  REQUIRE(m.mean_signed_error == close(bias / 10007));
  REQUIRE(m.max_abs_error == close(largest));
  REQUIRE(m.cosine_similarity == close(product / std::sqrt(signal * power)));
}

TEST_CASE("metrics do not depend on how a sample is split") {
  const Sample sample = random_sample(1003);
  const ErrorMetrics whole = measure(sample.values, sample.exact);
  for (std::size_t step : {1, 3, 8, 9, 500}) {
    ErrorAccumulator errors;
    for (std::size_t done = 0; done < sample.values.size(); done += step) {
      const std::size_t count = std::min(step, sample.values.size() - done);
      errors.add(std::span(sample.values).subspan(done, count),
                 std::span<const double>(sample.exact).subspan(done, count));
    }
    REQUIRE(same_bits(errors.metrics(), whole));
  }
}

TEST_CASE("merged accumulators match a single one and depend only on the merge order") {
  const Sample sample = random_sample(1003);
  std::vector<ErrorAccumulator> parts(4);
  for (std::size_t part = 0; part < 4; ++part) {
    const std::size_t first = part * 300;
    const std::size_t count = std::min<std::size_t>(300, 1003 - first);
    parts[part].add(std::span(sample.values).subspan(first, count),
                    std::span<const double>(sample.exact).subspan(first, count));
  }
  ErrorAccumulator merged;
  for (const ErrorAccumulator& part : parts) merged.merge(part);
  const ErrorMetrics m = merged.metrics();
  const ErrorMetrics whole = measure(sample.values, sample.exact);
  REQUIRE(m.count == whole.count);
  REQUIRE(m.mse == Approx(whole.mse).epsilon(1e-12));
  REQUIRE(m.max_abs_error == whole.max_abs_error);
  REQUIRE(m.cosine_similarity == Approx(whole.cosine_similarity).epsilon(1e-12));

  ErrorAccumulator again;
  for (const ErrorAccumulator& part : parts) again.merge(part);
  REQUIRE(same_bits(again.metrics(), m));
}

TEST_CASE("a float baseline counts as exact") {
  const std::vector<float> values{1.0F, 2.0F};
  const std::vector<float> baseline{1.5F, 2.0F};
  ErrorAccumulator errors;
  errors.add(values, std::span<const float>(baseline));
  REQUIRE(errors.metrics().mse == 0.125);
}

TEST_CASE("metrics without error, without signal and without elements") {
  const ErrorMetrics perfect = measure({1.0F, -2.0F}, {1.0, -2.0});
  REQUIRE(perfect.mse == 0.0);
  REQUIRE(perfect.nmse == 0.0);
  REQUIRE(perfect.sqnr_db == kInf);
  REQUIRE(perfect.cosine_similarity == Approx(1.0));

  const ErrorMetrics zeros = measure({0.0F, 0.0F}, {0.0, 0.0});
  REQUIRE(zeros.nmse == 0.0);
  REQUIRE(zeros.sqnr_db == kInf);
  REQUIRE(zeros.cosine_similarity == 1.0);

  const ErrorMetrics noise = measure({1.0F, 0.0F}, {0.0, 0.0});
  REQUIRE(noise.nmse == kInf);
  REQUIRE(noise.sqnr_db == -kInf);
  REQUIRE(noise.cosine_similarity == 0.0);

  const ErrorMetrics nothing = measure({}, {});
  REQUIRE(nothing.count == 0);
  REQUIRE(nothing.mse == 0.0);
  REQUIRE(nothing.sqnr_db == kInf);
}

TEST_CASE("NaN and Inf are counted, and the errors are those of the other elements") {
  for (const double poison : {std::numeric_limits<double>::quiet_NaN(), kInf, -kInf})
    for (std::size_t place = 0; place < 20; ++place)
      for (const bool in_exact : {false, true}) {
        Sample sample = random_sample(20);
        // The n-th element enters partial sum n mod 8, so zeros in its place give the same bits.
        Sample without = sample;
        without.values[place] = 0.0F;
        without.exact[place] = 0.0;
        sample.values[place] = static_cast<float>(poison);
        if (in_exact) sample.exact[place] = poison;
        const ErrorMetrics m = measure(sample.values, sample.exact);
        const ErrorMetrics others = measure(without.values, without.exact);
        CAPTURE(poison, place, in_exact);
        CHECK(m.count == 20);
        CHECK(m.nonfinite == 1);
        CHECK(m.nonfinite_exact == (in_exact ? 1 : 0));
        CHECK(m.mse == Approx(others.mse * 20 / 19).epsilon(1e-14));
        CHECK(m.nmse == others.nmse);
        CHECK(m.sqnr_db == others.sqnr_db);
        CHECK(m.max_abs_error == others.max_abs_error);
        CHECK(m.cosine_similarity == others.cosine_similarity);
      }
}

TEST_CASE("NaN and Inf are counted however a sample is split and merged") {
  Sample sample = random_sample(100);
  for (const std::size_t place : {3U, 40U, 41U, 99U})
    sample.values[place] = std::numeric_limits<float>::quiet_NaN();
  const ErrorMetrics whole = measure(sample.values, sample.exact);
  CHECK(whole.nonfinite == 4);
  const std::span<const float> values(sample.values);
  const std::span<const double> exact(sample.exact);
  for (const std::size_t split : {1U, 37U, 41U}) {
    ErrorAccumulator errors;
    errors.add(values.first(split), exact.first(split));
    errors.add(values.subspan(split), exact.subspan(split));
    CHECK(same_bits(errors.metrics(), whole));
    ErrorAccumulator first;
    first.add(values.first(split), exact.first(split));
    ErrorAccumulator second;
    second.add(values.subspan(split), exact.subspan(split));
    first.merge(second);
    CHECK(first.metrics().nonfinite == 4);
  }
}

TEST_CASE("without finite elements there are no errors") {
  const ErrorMetrics m = measure({std::numeric_limits<float>::infinity()}, {1.0});
  CHECK(m.nonfinite == 1);
  CHECK(std::isnan(m.mse));
  CHECK(std::isnan(m.sqnr_db));
  CHECK(std::isnan(m.max_abs_error));
}

TEST_CASE("a result that is lost to NaN or Inf does not compare as accurate") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(measure({1.0F, 2.5F}, {1.0, 2.0}).comparable_nmse() == 0.05);
  CHECK(measure({1.0F, nan}, {1.0, 2.0}).comparable_nmse() == kInf);
  CHECK(measure({1.0F, nan}, {1.0, kInf}).comparable_nmse() == 0.0);
  CHECK(measure({nan}, {kInf}).comparable_nmse() == kInf);
}

TEST_CASE("SQNR is text that a reader understands") {
  CHECK(sqnr_text(36.042) == "36.04 dB");
  CHECK(sqnr_text(36.042, 1) == "36.0 dB");
  CHECK(sqnr_text(kInf) == "exact");
  CHECK(sqnr_text(-kInf) == "-");
  CHECK(sqnr_text(std::numeric_limits<double>::quiet_NaN()) == "-");
}

TEST_CASE("metrics refuse spans of different lengths") {
  REQUIRE_THROWS_WITH(measure({1.0F, 2.0F}, {1.0}), ContainsSubstring("2 values but 1 exact"));
}

}  // namespace equarx::metrics_test
