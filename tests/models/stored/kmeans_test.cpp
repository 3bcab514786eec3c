#include "models/stored/kmeans.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/catch.hpp"

namespace equarx::stored::kmeans_test {
namespace {

/// Least error over all cuts of sorted values, by enumeration.
double least_error(const std::vector<float>& sorted, const std::vector<double>& weights,
                   std::size_t begin, std::size_t count) {
  if (begin == sorted.size()) return 0.0;
  if (count == 0) return std::numeric_limits<double>::infinity();
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t end = begin + 1; end <= sorted.size(); ++end) {
    double total = 0.0;
    double mean = 0.0;
    for (std::size_t i = begin; i < end; ++i) total += weights[i];
    for (std::size_t i = begin; i < end; ++i) mean += weights[i] * double{sorted[i]} / total;
    double error = 0.0;
    for (std::size_t i = begin; i < end; ++i)
      error += weights[i] * std::pow(double{sorted[i]} - mean, 2);
    least = std::min(least, error + least_error(sorted, weights, end, count - 1));
  }
  return least;
}

TEST_CASE("kmeans: no cut of sorted values has less error") {
  std::mt19937 random(1);
  for (int trial = 0; trial < 30; ++trial) {
    std::vector<float> values(9);
    std::vector<double> weights(9);
    for (float& value : values) value = static_cast<float>(random() % 1000) / 8.0F + 100.0F;
    for (double& weight : weights) weight = 1.0 + random() % 9;
    std::ranges::sort(values);
    const std::vector<float> centres = kmeans(values, weights, 3);
    REQUIRE(std::ranges::is_sorted(centres));
    double error = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      double least = std::numeric_limits<double>::infinity();
      for (const float centre : centres)
        least = std::min(least, std::pow(double{values[i]} - double{centre}, 2));
      error += weights[i] * least;
    }
    CHECK(error == Approx(least_error(values, weights, 0, 3)).epsilon(1e-5));
  }
}

TEST_CASE("kmeans: few values repeat the largest, and a weight of 0 moves no centre") {
  CHECK(kmeans(std::vector{2.0F, 1.0F, 2.0F}, std::vector{1.0, 1.0, 1.0}, 4) ==
        std::vector{1.0F, 2.0F, 2.0F, 2.0F});
  CHECK(kmeans({}, {}, 2) == std::vector{0.0F, 0.0F});
  CHECK(kmeans(std::vector{0.0F, 1.0F, 9.0F}, std::vector{1.0, 1.0, 0.0}, 1) == std::vector{0.5F});
}

}  // namespace
}  // namespace equarx::stored::kmeans_test
