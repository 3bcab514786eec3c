#include "topologies/topology.hpp"

#include <stdexcept>

#include "tests/catch.hpp"

namespace equarx::topology::topology_test {
namespace {

TEST_CASE("a cable becomes two directed links, numbered in the order of the cables") {
  const Topology topology(3, {{2, 0}, {0, 1}});
  REQUIRE(topology.chip_count() == 3);
  REQUIRE(topology.link_count() == 4);
  CHECK(topology.link(0) == Link{2, 0});
  CHECK(topology.link(1) == Link{0, 2});
  CHECK(topology.link(2) == Link{0, 1});
  CHECK(topology.link(3) == Link{1, 0});
}

TEST_CASE("a link is found by its ends, in its direction") {
  const Topology topology(3, {{2, 0}, {0, 1}});
  CHECK(topology.find_link(2, 0) == 0U);
  CHECK(topology.find_link(0, 2) == 1U);
  CHECK(topology.find_link(1, 0) == 3U);
  CHECK_FALSE(topology.find_link(1, 2).has_value());
  CHECK_FALSE(topology.find_link(1, 1).has_value());
}

TEST_CASE("out links are ordered by the chip at the other end") {
  const Topology topology(4, {{3, 1}, {1, 0}, {2, 1}});
  CHECK(topology.out_links(1) == std::vector<LinkId>{2, 5, 1});
  CHECK(topology.out_links(3) == std::vector<LinkId>{0});
  CHECK(Topology(1, {}).out_links(0).empty());
}

TEST_CASE("a copy of a topology outlives the original") {
  std::optional<Topology> original(Topology(2, {{0, 1}}, {"left", "right"}));
  const Topology copy = *original;
  original.reset();
  CHECK(copy.find_link(1, 0) == 1U);
  CHECK(copy.label(1) == "right");
}

TEST_CASE("a chip is labelled by its name, or else by its number") {
  CHECK(Topology(2, {{0, 1}}).label(1) == "1");
  CHECK(Topology(2, {{0, 1}}, {"left", "right"}).label(0) == "left");
}

TEST_CASE("invalid topologies are rejected with the reason") {
  REQUIRE_THROWS_AS(Topology(2, {{1, 1}}), std::invalid_argument);
  REQUIRE_THROWS_WITH(Topology(2, {{1, 1}}), ContainsSubstring("chip 1 to itself"));
  REQUIRE_THROWS_WITH(Topology(2, {{0, 1}, {0, 1}}), ContainsSubstring("chips 0 and 1"));
  REQUIRE_THROWS_WITH(Topology(2, {{0, 1}, {1, 0}}, {"a", "b"}),
                      ContainsSubstring("chips b and a"));
  REQUIRE_THROWS_AS(Topology(2, {{0, 1}, {1, 0}}), std::invalid_argument);
  REQUIRE_THROWS_WITH(Topology(2, {{0, 2}}),
                      ContainsSubstring("chip 2 does not exist; chips are 0 to 1"));
  REQUIRE_THROWS_WITH(Topology(2, {{7, 0}}), ContainsSubstring("chip 7"));
  REQUIRE_THROWS_WITH(Topology(2, {}, {"only one"}), ContainsSubstring("1 labels for 2 chips"));
  REQUIRE_THROWS_WITH(Topology(0, {}), ContainsSubstring("0 chips"));
}

TEST_CASE("unknown chips and links are rejected") {
  const Topology topology(2, {{0, 1}});
  REQUIRE_THROWS_AS(topology.label(2), std::invalid_argument);
  REQUIRE_THROWS_AS(topology.find_link(2, 0), std::invalid_argument);
  REQUIRE_THROWS_AS(topology.find_link(0, 2), std::invalid_argument);
  REQUIRE_THROWS_AS(topology.out_links(2), std::invalid_argument);
  REQUIRE_THROWS_AS(topology.link(2), std::out_of_range);
}

}  // namespace
}  // namespace equarx::topology::topology_test
