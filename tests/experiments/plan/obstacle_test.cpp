#include "experiments/plan/obstacle.hpp"

#include "tests/support/errors.hpp"

namespace equarx::plan::obstacle_test {
namespace {

TEST_CASE("what is there is given, and an obstacle thrown with its place") {
  CHECK(value_or_throw(OrObstacle<int>(7)) == 7);
  const Obstacle obstacle{"/topology", "there is no ring; use a torus"};
  CHECK(obstacle.text() == "/topology: there is no ring; use a torus");
  testing::check_refused([&] { value_or_throw(OrObstacle<int>(obstacle)); }, "/topology",
                         "use a torus");
}

}  // namespace
}  // namespace equarx::plan::obstacle_test
