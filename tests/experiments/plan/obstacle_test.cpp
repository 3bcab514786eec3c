#include "experiments/plan/obstacle.hpp"

#include "tests/support/errors.hpp"

namespace equarx::plan {
namespace {

TEST_CASE("what is there is given, and an obstacle thrown with its place") {
  CHECK(value_or_throw(OrObstacle<int>(7)) == 7);
  const Obstacle obstacle{"/topology", "there is no ring; use a torus"};
  CHECK(obstacle.text() == "/topology: there is no ring; use a torus");
  testing::check_refused([&] { value_or_throw(OrObstacle<int>(obstacle)); }, "/topology",
                         "use a torus");
}

TEST_CASE("without an obstacle nothing is thrown") {
  CHECK_NOTHROW(throw_if(std::nullopt));
  CHECK_THROWS_AS(throw_if(Obstacle{"", "no"}), input::InputError);
}

}  // namespace
}  // namespace equarx::plan
