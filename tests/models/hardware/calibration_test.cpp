#include "models/hardware/calibration.hpp"

#include <limits>

#include "tests/catch.hpp"

namespace equarx::hardware::calibration_test {
namespace {

TEST_CASE("correlation matrices must be symmetric with a unit diagonal") {
  CHECK_FALSE(wrong_correlation(std::vector{1.0}, 1));
  CHECK_FALSE(wrong_correlation(std::vector{1.0, -0.5, -0.5, 1.0}, 2));
  CHECK(wrong_correlation(std::vector{0.9}, 1) == 0);
  CHECK(wrong_correlation(std::vector{1.0, 0.5, -0.5, 1.0}, 2) == 1);
  CHECK(wrong_correlation(std::vector{1.0, 1.5, 1.5, 1.0}, 2) == 1);
  CHECK(wrong_correlation(std::vector{1.0, 0.0, 0.0, 2.0}, 2) == 3);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(wrong_correlation(std::vector{1.0, nan, nan, 1.0}, 2) == 1);
}

TEST_CASE("matrices of equal correlations are checked for positive semidefiniteness") {
  // With equal off-diagonal correlations r, the smallest eigenvalue is min(1 - r, 1 + (n - 1) r).
  const auto is_possible = [](double r) {
    return is_positive_semidefinite(std::vector{1.0, r, r, r, 1.0, r, r, r, 1.0}, 3);
  };
  CHECK(is_possible(0.0));
  CHECK(is_possible(1.0));
  CHECK(is_possible(-0.5));
  CHECK(is_possible(-0.5 - kCorrelationRounding));
  CHECK_FALSE(is_possible(-0.5 - 10.0 * kCorrelationRounding));
  CHECK_FALSE(is_possible(-0.9));
}

TEST_CASE("roles have names") {
  CHECK(name(ObservationRole::fit) == "fit");
  CHECK(name(ObservationRole::check) == "check");
}

}  // namespace
}  // namespace equarx::hardware::calibration_test
