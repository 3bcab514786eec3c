#include "models/collectives/ring_options.hpp"

#include <array>
#include <cstdint>

#include "tests/catch.hpp"

namespace equarx::ring_options_test {

using namespace equarx::collectives;

TEST_CASE("directions and styles have names") {
  REQUIRE(name(Direction::forward) == "forward");
  REQUIRE(name(Direction::backward) == "backward");
  REQUIRE(name(RingStyle::full_loop) == "full-loop");
  REQUIRE(name(RingStyle::semi_loop) == "semi-loop");
}

TEST_CASE("steps of both styles") {
  using Steps = std::array<std::uint32_t, kDirections>;
  REQUIRE(ring_steps(2, RingStyle::full_loop) == Steps{1, 1});
  REQUIRE(ring_steps(8, RingStyle::full_loop) == Steps{7, 7});
  REQUIRE(ring_steps(2, RingStyle::semi_loop) == Steps{1, 0});
  REQUIRE(ring_steps(5, RingStyle::semi_loop) == Steps{2, 2});
  REQUIRE(ring_steps(8, RingStyle::semi_loop) == Steps{4, 3});
  REQUIRE(ring_segments(RingStyle::full_loop) == 2);
  REQUIRE(ring_segments(RingStyle::semi_loop) == 1);
}

}  // namespace equarx::ring_options_test
