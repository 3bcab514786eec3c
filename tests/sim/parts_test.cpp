#include "sim/parts.hpp"

#include "tests/catch.hpp"

namespace equarx::sim::parts_test {
namespace {

/// Pairs of chips (0, 2) and (1, 3), each with a link in both directions; the last link is unused.
Machine pairs() {
  Machine machine;
  machine.links = {
      {"a", 1.0, 0.0}, {"b", 1.0, 0.0}, {"c", 1.0, 0.0}, {"d", 1.0, 0.0}, {"e", 9.0, 0.0}};
  machine.chip_names = {"0", "1", "2", "3"};
  machine.out_ports = {{{2, {0}}}, {{3, {1}}}, {{0, {2}}}, {{1, {3}}}};
  return machine;
}

TEST_CASE("chips that exchange messages are one part") {
  CHECK(independent_parts(pairs()) == std::vector<Ranks>{{0, 2}, {1, 3}});
}

TEST_CASE("chips that share a link are one part") {
  Machine machine = pairs();
  machine.out_ports[3][0].route = {2, 3};
  CHECK(independent_parts(machine) == std::vector<Ranks>{{0, 1, 2, 3}});
}

TEST_CASE("a part has its own numbers and only its links") {
  const Machine machine = pairs();
  const Machine part = part_of(machine, {1, 3});
  CHECK(part.chip_names == std::vector<std::string>{"1", "3"});
  REQUIRE(part.links.size() == 2);
  CHECK(part.links[0].name == "b");
  CHECK(part.out_ports[0][0].peer == 1);
  CHECK(part.out_ports[1][0].route == Route{1});
  CHECK(are_alike(part, part_of(machine, {0, 2})));
}

TEST_CASE("HBMs follow the links of a part") {
  Machine machine = pairs();
  add_hbm(5.0, machine);
  const Machine part = part_of(machine, {1, 3});
  CHECK(part.cables() == 2);
  CHECK(part.hbm == std::vector<LinkIndex>{2, 3});
  CHECK(part.links[2].rate == 5.0);
  CHECK(part.out_ports[0][0].route == Route{0, 2, 3});
}

TEST_CASE("parts with other links, speeds or routes are not alike") {
  const Machine part = part_of(pairs(), {0, 2});
  Machine other = pairs();
  other.links[3].rate = 0.5;
  CHECK_FALSE(are_alike(part, part_of(other, {1, 3})));
  other = pairs();
  other.slowdown = {1.0, 2.0, 1.0, 1.0};
  CHECK_FALSE(are_alike(part, part_of(other, {1, 3})));
  other = pairs();
  other.failures = {{1, 0.5}};
  const Machine failing = part_of(other, {1, 3});
  REQUIRE(failing.failures.size() == 1);
  CHECK(failing.failures[0].link == 0);
  CHECK_FALSE(are_alike(failing, failing));
}

}  // namespace
}  // namespace equarx::sim::parts_test
