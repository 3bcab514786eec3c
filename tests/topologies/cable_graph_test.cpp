#include "topologies/cable_graph.hpp"

#include <stdexcept>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::cable_graph_test {

using namespace equarx::topology;

TEST_CASE("usable links exclude the avoided ones, given in either direction") {
  const Topology square(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}});
  const CableGraph all = usable_cables(square, {});
  REQUIRE(all.chip_count() == 4);
  REQUIRE(all.ends.size() == 4);
  for (ChipId chip = 0; chip < 4; ++chip) REQUIRE(all.cables_of[chip].size() == 2);
  const CableGraph some = usable_cables(square, {{2, 1}});
  REQUIRE(some.ends.size() == 3);
  REQUIRE(some.cables_of[1].size() == 1);
  REQUIRE(some.other_end(some.cables_of[1].front(), 1) == 0);
  REQUIRE(some.joins(3, 0));
  REQUIRE_FALSE(some.joins(1, 2));
}

TEST_CASE("avoiding a link that does not exist is rejected") {
  const Topology line(3, {{0, 1}, {1, 2}});
  REQUIRE_THROWS_AS(usable_cables(line, {{0, 2}}), std::invalid_argument);
}

}  // namespace equarx::cable_graph_test
