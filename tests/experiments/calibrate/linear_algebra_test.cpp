#include "experiments/calibrate/linear_algebra.hpp"

#include <cmath>

#include "tests/catch.hpp"

namespace equarx::calibrate::linear_algebra_test {
namespace {

TEST_CASE("the covariance of a line fit matches the closed form") {
  const Jacobian jacobian{4, 2, {1, 0, 1, 1, 1, 2, 1, 3}};
  const auto variances = covariance(decompose(jacobian));
  REQUIRE(variances);
  const double determinant = 4.0 * 14.0 - 36.0;
  const std::vector wanted = {14.0 / determinant, -6.0 / determinant, -6.0 / determinant,
                              4.0 / determinant};
  for (std::size_t i = 0; i < 4; ++i) CHECK((*variances)[i] == Approx(wanted[i]));
}

TEST_CASE("condition indices are independent of units and identify weak combinations") {
  // Two columns of length 1 at an angle: singular values are sqrt(1 +- cos).
  const double angle = 0.01;
  const Jacobian apart{2, 2, {1.0, 1e6 * std::cos(angle), 0.0, 1e6 * std::sin(angle)}};
  const Decomposition parts = decompose(apart);
  CHECK(parts.condition_index(0) == 1.0);
  CHECK(parts.condition_index(1) ==
        Approx(std::sqrt((1.0 + std::cos(angle)) / (1.0 - std::cos(angle)))).epsilon(1e-6));
  // The weak combination is one up, the other down, each in its unit.
  CHECK(parts.combinations[1][0] / parts.combinations[1][1] == Approx(-1e6));
}

TEST_CASE("identical columns have no covariance") {
  CHECK_FALSE(covariance(decompose({3, 2, {1, 2, 2, 4, 3, 6}})));
}

TEST_CASE("the tail of chi^2 of two degrees of freedom is an exponential") {
  CHECK(chi_squared_tail(3.0, 2) == Approx(std::exp(-1.5)));
  CHECK(chi_squared_tail(0.0, 0) == 1.0);
}

}  // namespace
}  // namespace equarx::calibrate::linear_algebra_test
