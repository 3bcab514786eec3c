#include "experiments/plan/infeasible.hpp"

#include "tests/support/errors.hpp"

namespace equarx::plan::infeasible_test {
namespace {

TEST_CASE("a result is returned, and an infeasible one thrown with its pointer") {
  CHECK(value_or_throw(OrInfeasible<int>(7)) == 7);
  const Infeasible infeasible{"/topology", "there is no ring; use a torus"};
  CHECK(infeasible.text() == "/topology: there is no ring; use a torus");
  testing::check_refused([&] { value_or_throw(OrInfeasible<int>(infeasible)); }, "/topology",
                         "use a torus");
}

}  // namespace
}  // namespace equarx::plan::infeasible_test
