#include "experiments/plan/infeasible.hpp"

#include <memory>

#include "tests/support/errors.hpp"

namespace equarx::plan::infeasible_test {
namespace {

TEST_CASE("a result is returned, and an infeasible one thrown with its pointer") {
  CHECK(value_or_throw(Expected<int>(7)) == 7);
  const Expected<int> none = infeasible("/topology", "there is no ring; use a torus");
  REQUIRE_FALSE(none);
  CHECK(none.error().text() == "/topology: there is no ring; use a torus");
  testing::check_refused([&] { value_or_throw(none); }, "/topology", "use a torus");
}

TEST_CASE("a result that cannot be copied is moved out") {
  CHECK(*value_or_throw(Expected<std::unique_ptr<int>>(std::make_unique<int>(7))) == 7);
}

TEST_CASE("a check returns nothing, or throws why it fails") {
  value_or_throw(Expected<void>());
  testing::check_refused([] { value_or_throw(Expected<void>(infeasible("/tensor", "is large"))); },
                         "/tensor", "is large");
}

TEST_CASE("a request that needs more HBM than there is throws the bytes") {
  const Expected<int> none = infeasible("/tensor", "is too large", 2e9);
  try {
    value_or_throw(none);
    FAIL("nothing was thrown");
  } catch (const input::DoesNotFitError& error) {
    CHECK(error.pointer() == "/tensor");
    CHECK(error.needs_bytes() == 2e9);
  }
}

}  // namespace
}  // namespace equarx::plan::infeasible_test
