#include "topologies/route.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <stdexcept>

#include "tests/catch.hpp"
#include "tests/topologies/shapes.hpp"

namespace equarx::topology::route_test {
namespace {

constexpr std::uint32_t kUnreached = std::numeric_limits<std::uint32_t>::max();

/// Reference: hops from `root` to every chip.
std::vector<std::uint32_t> distances_from(const Topology& topology, ChipId root) {
  std::vector<std::vector<ChipId>> neighbours(topology.chip_count());
  for (LinkId id = 0; id < topology.link_count(); ++id) {
    neighbours[topology.link(id).from].push_back(topology.link(id).to);
  }
  std::vector<std::uint32_t> distances(topology.chip_count(), kUnreached);
  distances[root] = 0;
  std::deque<ChipId> queue{root};
  while (!queue.empty()) {
    const ChipId chip = queue.front();
    queue.pop_front();
    for (const ChipId next : neighbours[chip]) {
      if (distances[next] != kUnreached) continue;
      distances[next] = distances[chip] + 1;
      queue.push_back(next);
    }
  }
  return distances;
}

/// The chips along a route; fails if consecutive links do not connect.
std::vector<ChipId> chips_of(const Topology& topology, ChipId from,
                             const std::vector<LinkId>& route) {
  std::vector<ChipId> chips{from};
  for (const LinkId id : route) {
    if (topology.link(id).from != chips.back()) FAIL("the route is broken");
    chips.push_back(topology.link(id).to);
  }
  return chips;
}

TEST_CASE("routes on grids are connected and shortest, for all pairs") {
  for (const GridShape& shape :
       {mesh({1}), mesh({5}), torus({6}), torus({7}), mesh({4, 2}), mesh({3, 5}), torus({2, 2}),
        torus({4, 4}), torus({5, 6}), GridShape{{4, 8}, {false, true}}, torus({3, 4, 5}),
        GridShape{{4, 1, 5}, {true, true, false}}, mesh({2, 3, 2, 3})}) {
    CAPTURE(describe(shape));
    const Topology topology = make_grid(shape);
    for (ChipId from = 0; from < topology.chip_count(); ++from) {
      const std::vector<std::uint32_t> distances = distances_from(topology, from);
      for (ChipId to = 0; to < topology.chip_count(); ++to) {
        CAPTURE(from, to);
        const auto by_dimension = dimension_ordered_route(shape, topology, from, to);
        const auto by_search = breadth_first_route(topology, from, to);
        REQUIRE(by_dimension.size() == distances[to]);
        REQUIRE(by_search.size() == distances[to]);
        REQUIRE(chips_of(topology, from, by_dimension).back() == to);
        REQUIRE(chips_of(topology, from, by_search).back() == to);
      }
    }
  }
}

TEST_CASE("a dimension-ordered route finishes the shorter axis first, else axis 0") {
  const GridShape shape = mesh({3, 3});
  const Topology topology = make_grid(shape);
  const auto out = dimension_ordered_route(shape, topology, 0, 8);
  CHECK(chips_of(topology, 0, out) == std::vector<ChipId>{0, 3, 6, 7, 8});
  const auto back = dimension_ordered_route(shape, topology, 8, 0);
  CHECK(chips_of(topology, 8, back) == std::vector<ChipId>{8, 5, 2, 1, 0});
  const GridShape tall = mesh({3, 2});
  CHECK(chips_of(make_grid(tall), 0, dimension_ordered_route(tall, make_grid(tall), 0, 5)) ==
        std::vector<ChipId>{0, 1, 3, 5});
}

TEST_CASE("routes take the shorter direction of a wraparound axis, and ties alternate") {
  const GridShape shape = torus({6});
  const Topology topology = make_grid(shape);
  const auto chips = [&](ChipId from, ChipId to) {
    return chips_of(topology, from, dimension_ordered_route(shape, topology, from, to));
  };
  CHECK(chips(0, 4) == std::vector<ChipId>{0, 5, 4});
  CHECK(chips(4, 0) == std::vector<ChipId>{4, 5, 0});
  CHECK(chips(0, 3) == std::vector<ChipId>{0, 1, 2, 3});
  CHECK(chips(3, 0) == std::vector<ChipId>{3, 2, 1, 0});
  CHECK(chips(2, 2) == std::vector<ChipId>{2});
}

TEST_CASE("all pairs of chips load both directions of an even ring alike") {
  for (const GridShape& shape : {torus({4}), torus({8}), torus({16}), torus({4, 4}), torus({4, 8}),
                                 torus({8, 2}), torus({4, 4, 4}), torus({3, 8})}) {
    CAPTURE(describe(shape));
    const Topology topology = make_grid(shape);
    std::vector<std::uint32_t> loads(topology.link_count());
    for (ChipId from = 0; from < topology.chip_count(); ++from)
      for (ChipId to = 0; to < topology.chip_count(); ++to)
        for (const LinkId link : dimension_ordered_route(shape, topology, from, to)) ++loads[link];
    // On a ring of n chips each link carries n^2 / 8 of the pairs of the ring's chips.
    for (LinkId link = 0; link < loads.size(); ++link) {
      const Coordinates one = coordinates_of(shape, topology.link(link).from);
      const Coordinates other = coordinates_of(shape, topology.link(link).to);
      const auto axis =
          static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
      const std::uint32_t length = shape.lengths[axis];
      const std::uint32_t others = topology.chip_count() / length;
      const std::uint32_t even = length == 2 ? 1 : length % 2 == 0 ? length * length / 8 : 1;
      CHECK(loads[link] == even * others);
    }
  }
}

TEST_CASE("breadth-first routes use the shortcut of an irregular topology") {
  const Topology topology(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {1, 5}, {5, 4}});
  const auto route = breadth_first_route(topology, 0, 4);
  CHECK(chips_of(topology, 0, route) == std::vector<ChipId>{0, 1, 5, 4});
  CHECK(breadth_first_route(topology, 3, 3).empty());
}

TEST_CASE("breadth-first routes do not depend on the order of the links") {
  const Topology one(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  const Topology other(4, {{3, 2}, {3, 1}, {2, 0}, {1, 0}});
  CHECK(chips_of(one, 0, breadth_first_route(one, 0, 3)) ==
        chips_of(other, 0, breadth_first_route(other, 0, 3)));
}

TEST_CASE("disconnected chips are reported by name") {
  const Topology topology(4, {{0, 1}, {2, 3}}, {"a", "b", "c", "d"});
  REQUIRE_THROWS_AS(breadth_first_route(topology, 1, 2), std::invalid_argument);
  REQUIRE_THROWS_WITH(breadth_first_route(topology, 1, 2),
                      ContainsSubstring("from chip b to chip c"));
}

TEST_CASE("an unreachable chip is found if the topology is disconnected") {
  CHECK_FALSE(find_unreachable_chip(Topology(1, {})));
  CHECK_FALSE(find_unreachable_chip(Topology(3, {{2, 1}, {2, 0}})));
  CHECK(find_unreachable_chip(Topology(2, {})) == ChipId{1});
  CHECK(find_unreachable_chip(Topology(4, {{0, 1}, {2, 3}})) == ChipId{2});
  CHECK(find_unreachable_chip(Topology(3, {{1, 2}})) == ChipId{1});
  CHECK_FALSE(find_unreachable_chip(make_grid(mesh({4, 4, 4}))));
}

TEST_CASE("routes of unknown chips and mismatched topologies are rejected") {
  const GridShape shape = torus({4, 2});
  const Topology topology = make_grid(shape);
  REQUIRE_THROWS_AS(dimension_ordered_route(shape, topology, 8, 0), std::invalid_argument);
  REQUIRE_THROWS_AS(dimension_ordered_route(shape, topology, 0, 8), std::invalid_argument);
  REQUIRE_THROWS_AS(breadth_first_route(topology, 8, 0), std::invalid_argument);
  REQUIRE_THROWS_AS(breadth_first_route(topology, 0, 8), std::invalid_argument);
  REQUIRE_THROWS_AS(dimension_ordered_route(shape, make_grid(mesh({4, 2})), 0, 6),
                    std::logic_error);
  REQUIRE_THROWS_AS(dimension_ordered_route(shape, make_grid(mesh({4})), 0, 6), std::logic_error);
}

}  // namespace
}  // namespace equarx::topology::route_test
