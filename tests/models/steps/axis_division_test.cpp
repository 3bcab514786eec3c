#include "models/steps/axis_division.hpp"

#include "tests/catch.hpp"

namespace equarx::steps::axis_division_test {
namespace {

TEST_CASE("slices are divided among the slowest axes") {
  Division division = undivided(1, 3);
  divide_slowest_first(0, {12}, {2, 9, 4}, division);
  CHECK(division == Division{{2, 3, 2}});
  CHECK(length_of_axis(division, 0) == 12);
  CHECK(length_of_mesh_axis(division, 1) == 3);
  CHECK_FALSE(is_complete({12}, {2, 9, 4}, division));
}

TEST_CASE("an order-preserving division has a part for each overlap of a machine and a mesh axis") {
  CHECK(divide_in_order({4, 8}, {16, 2}) == Division{{4, 1}, {4, 2}});
  CHECK(divide_in_order({4, 8}, {2, 16}) == Division{{2, 2}, {1, 8}});
  CHECK_FALSE(divide_in_order({3, 8}, {8, 3}));
}

TEST_CASE("JAX prefers whole axes, then more of them, for the last mesh axis first") {
  Division division = undivided(3, 2);
  divide_like_jax(0, {4, 4, 16}, {16, 16}, division);
  CHECK(division == Division{{1, 4}, {1, 4}, {16, 1}});
}

}  // namespace
}  // namespace equarx::steps::axis_division_test
