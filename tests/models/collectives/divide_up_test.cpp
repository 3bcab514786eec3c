#include "models/collectives/divide_up.hpp"

#include <limits>

#include "tests/catch.hpp"

namespace equarx::divide_up_test {

using equarx::collectives::divide_up;

TEST_CASE("a quotient is rounded up, for the largest number too") {
  REQUIRE(divide_up(0, 3) == 0);
  REQUIRE(divide_up(1, 3) == 1);
  REQUIRE(divide_up(3, 3) == 1);
  REQUIRE(divide_up(4, 3) == 2);
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  REQUIRE(divide_up(kMost, 1) == kMost);
  REQUIRE(divide_up(kMost, 2) == kMost / 2 + 1);
}

}  // namespace equarx::divide_up_test
