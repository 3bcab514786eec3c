#include "topologies/switch.hpp"

#include <numeric>
#include <stdexcept>
#include <vector>

#include "tests/catch.hpp"
#include "topologies/drawing.hpp"
#include "topologies/layout.hpp"
#include "topologies/metrics.hpp"
#include "topologies/ring_search.hpp"
#include "topologies/route.hpp"

namespace equarx::topology::switch_test {
namespace {

TEST_CASE("every chip has one port, and every route passes the switch") {
  for (const std::uint32_t chips : {2U, 3U, 8U, 72U}) {
    const Topology topology = make_switch(chips);
    CHECK(topology.chip_count() == chips);
    CHECK(topology.node_count() == chips + 1);
    CHECK(topology.link_count() == 2 * chips);
    CHECK(topology.label(chips) == "switch");
    for (ChipId from = 0; from < chips; ++from)
      for (ChipId to = 0; to < chips; ++to) {
        if (from == to) continue;
        CHECK_FALSE(topology.find_link(from, to).has_value());
        REQUIRE(breadth_first_route(topology, from, to) ==
                std::vector<LinkId>{2 * from, 2 * to + 1});
      }
    CHECK_FALSE(find_unreachable_chip(topology).has_value());
  }
}

TEST_CASE("fewer than two chips, and too many, are rejected") {
  REQUIRE_THROWS_AS(make_switch(1), std::invalid_argument);
  REQUIRE_THROWS_WITH(make_switch(kMaxOnSwitch + 1),
                      "a switch cannot join 1025 chips; use 2 to 1024 chips");
}

TEST_CASE("distances and degrees are those of chips, not of the switch") {
  const Topology topology = make_switch(8);
  CHECK(distances(topology).diameter == 2);
  CHECK(distances(topology).average == 2.0);
  CHECK(degree_range(topology).least == 1);
  CHECK(degree_range(topology).most == 1);
}

TEST_CASE("the ports of the lighter half are the bisection of a switch") {
  const auto cut = [](std::uint32_t chips, const std::vector<double>& weights) {
    return bisection(make_switch(chips), weights);
  };
  const Bisection even = cut(8, std::vector<double>(8, 3.0));
  CHECK((even.cables == 4 && even.weight == 12.0 && even.exact));
  CHECK(cut(72, std::vector<double>(72, 1.0)).weight == 36.0);
  CHECK(cut(5, {1.0, 9.0, 9.0, 2.0, 9.0}).weight == 3.0);
}

TEST_CASE("the order of the chips is a ring through a switch") {
  std::vector<ChipId> order(5);
  std::iota(order.begin(), order.end(), ChipId{0});
  const RingSearch search = find_ring(make_switch(5), {}, std::nullopt);
  CHECK(search.outcome == RingOutcome::found);
  CHECK(search.ring == order);
}

TEST_CASE("the switch is drawn in the middle of its chips") {
  const Topology topology = make_switch(8);
  const Layout layout = lay_out(topology, std::nullopt);
  REQUIRE(layout.chips.size() == 9);
  CHECK((layout.chips[8].x == 0.0 && layout.chips[8].y == 0.0));
  CHECK_THAT(draw_svg(topology, {}), ContainsSubstring(">switch</text>"));
}

}  // namespace
}  // namespace equarx::topology::switch_test
