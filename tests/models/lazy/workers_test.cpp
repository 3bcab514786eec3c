#include "models/lazy/workers.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::lazy::workers_test {
namespace {

/// Minimizes sum over workers of (parameters - center)^2 scale / 2 by gradient descent.
struct Problem {
  std::vector<double> centers = {1.0, -2.0, 3.0, 0.5};  ///< two workers, two elements
  std::vector<double> scales = {1.0, 0.1};
  std::vector<double> parameters = {0.0, 0.0};

  std::vector<double> gradients() const {
    std::vector<double> made;
    for (std::size_t i = 0; i < centers.size(); ++i)
      made.push_back(scales[i / 2] * (parameters[i % 2] - centers[i]));
    return made;
  }
};

/// Sums of all rounds and the number of uploads.
struct Descent {
  std::vector<std::vector<double>> sums;
  std::size_t uploads = 0;
  Problem problem;
};

Descent descend(const Rule& rule, std::size_t rounds) {
  Descent descent;
  Workers workers(rule, 2, 2);
  for (std::size_t i = 0; i < rounds; ++i) {
    const auto sends = workers.round(descent.problem.gradients(), descent.problem.parameters);
    descent.uploads += static_cast<std::size_t>(std::ranges::count(sends, true));
    descent.sums.push_back(workers.sum());
    for (std::size_t j = 0; j < 2; ++j)
      descent.problem.parameters[j] -= rule.rate * descent.sums.back()[j];
  }
  CHECK(workers.bits() == descent.uploads * message_bits(2, rule.bits));
  return descent;
}

TEST_CASE("with weights of 0 all workers send, and sums are those of gradient descent") {
  const Descent lazy =
      descend({.bits = std::nullopt, .rate = 0.5, .weight = 0.0, .error_weight = 0.0}, 20);
  CHECK(lazy.uploads == 40);
  Problem exact;
  for (const std::vector<double>& sum : lazy.sums) {
    const std::vector<double> gradients = exact.gradients();
    const std::vector<double> expected = {gradients[0] + gradients[2], gradients[1] + gradients[3]};
    CHECK(sum == expected);
    for (std::size_t j = 0; j < 2; ++j) exact.parameters[j] -= 0.5 * expected[j];
  }
}

TEST_CASE("lazy workers send less and end at the same minimum") {
  for (const std::optional<std::uint32_t> bits :
       {std::optional(4U), std::optional<std::uint32_t>()}) {
    const Descent lazy = descend({.bits = bits, .rate = 0.5}, 120);
    CHECK(lazy.uploads < 240);
    CHECK(lazy.problem.parameters[0] == Approx((1.0 + 0.3) / 1.1).epsilon(1e-3));
    CHECK(lazy.problem.parameters[1] == Approx((-2.0 + 0.05) / 1.1).epsilon(1e-3));
  }
}

TEST_CASE("a worker is silent for at most so many rounds") {
  Workers workers({.bits = std::nullopt, .rate = 0.5, .weight = 1e9, .at_most = 3}, 1, 1);
  std::vector<bool> sends;
  double parameter = 0.0;
  for (std::size_t i = 0; i < 9; ++i) {
    const std::vector<double> gradient = {parameter - 1.0};
    const std::vector<double> at = {parameter};
    sends.push_back(workers.round(gradient, at).front());
    parameter += 0.1;
  }
  CHECK(sends == std::vector<bool>{true, false, false, false, true, false, false, false, true});
}

TEST_CASE("what a silent worker sent before stays in the sum") {
  Workers workers({.bits = std::nullopt, .rate = 1.0, .weight = 1e9}, 2, 1);
  const std::vector<double> first = {1.0, 2.0};
  const std::vector<double> second = {5.0, 6.0};
  workers.round(first, std::vector<double>{0.0});
  CHECK(workers.sum() == std::vector<double>{3.0});
  workers.round(second, std::vector<double>{1.0});
  CHECK(workers.sum() == std::vector<double>{3.0});
}

TEST_CASE("unsuitable rules and rounds are refused, and change nothing") {
  CHECK_THROWS_AS(Workers({.rate = 0.0}, 1, 1), std::invalid_argument);
  CHECK_THROWS_AS(Workers({.bits = 0, .rate = 1.0}, 1, 1), std::invalid_argument);
  CHECK_THROWS_AS(Workers({.rate = 1.0, .weight = -1.0}, 1, 1), std::invalid_argument);
  CHECK_THROWS_AS(Workers({.rate = 1.0, .at_most = 0}, 1, 1), std::invalid_argument);
  CHECK_THROWS_AS(Workers({.rate = 1.0}, 0, 1), std::invalid_argument);
  Workers workers({.rate = 1.0}, 2, 1);
  const std::vector<double> zero = {0.0};
  const std::vector<double> gradients = {1.0, 2.0};
  const std::vector<double> not_finite = {1.0, std::numeric_limits<double>::infinity()};
  CHECK_THROWS_AS(workers.round(zero, zero), std::invalid_argument);
  CHECK_THROWS_AS(workers.round(gradients, gradients), std::invalid_argument);
  CHECK_THROWS_AS(workers.round(not_finite, zero), std::invalid_argument);
  CHECK(workers.bits() == 0);
  CHECK(workers.round(gradients, zero) == std::vector<bool>{true, true});
}

}  // namespace
}  // namespace equarx::lazy::workers_test
