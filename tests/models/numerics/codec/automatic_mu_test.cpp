#include "models/numerics/codec/automatic_mu.hpp"

#include <limits>
#include <stdexcept>

#include "tests/catch.hpp"

namespace equarx::numerics::automatic_mu_test {
namespace {

TEST_CASE("mu doubles over 1,000 steps with few sums at the largest code") {
  AutomaticMu mu;
  CHECK(mu.value() == 1.0);
  for (int step = 0; step < 1000; ++step) mu.update(1e-5);  // not more than 0.001 %
  CHECK(mu.value() == Approx(2.0).epsilon(1e-12));
  for (int step = 0; step < 1000; ++step) mu.update(0.0);
  CHECK(mu.value() == Approx(4.0).epsilon(1e-12));
}

TEST_CASE("mu is halved after a step with many sums at the largest code") {
  AutomaticMu mu(0.5);
  mu.update(1.1e-5);
  CHECK(mu.value() == 0.25);
  mu.update(1.0);
  CHECK(mu.value() == 0.125);
}

TEST_CASE("invalid values of mu and invalid shares are refused") {
  for (const double wrong : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()})
    CHECK_THROWS_AS(AutomaticMu(wrong), std::invalid_argument);
  AutomaticMu mu;
  for (const double wrong : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()})
    CHECK_THROWS_AS(mu.update(wrong), std::invalid_argument);
  CHECK(mu.value() == 1.0);
}

}  // namespace
}  // namespace equarx::numerics::automatic_mu_test
