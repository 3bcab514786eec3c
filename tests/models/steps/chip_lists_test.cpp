#include "models/steps/chip_lists.hpp"

#include "models/steps/mesh_layout.hpp"
#include "tests/catch.hpp"

namespace equarx::steps::chip_lists_test {
namespace {

using Lists = std::vector<std::vector<std::uint32_t>>;

TEST_CASE("valid groups are equally large and contain every chip once") {
  CHECK(group_error({{0, 3}, {1, 2}}, 4).empty());
  CHECK(group_error({{0, 3, 2, 1}}, 4).empty());
  CHECK_THAT(group_error({}, 4), ContainsSubstring("no groups"));
  CHECK_THAT(group_error({{0, 3}, {1, 2, 4}}, 5), ContainsSubstring("2 chips and another 3"));
  CHECK_THAT(group_error({{0, 1}, {2, 1}}, 4), ContainsSubstring("chip 1 is listed twice"));
  CHECK_THAT(group_error({{0, 1}, {2, 4}}, 4), ContainsSubstring("no chip 4"));
  CHECK(group_error({{0, 1}}, 4).empty());
  CHECK(unlisted_chip({{0, 1}}, 4) == 2);
  CHECK_FALSE(unlisted_chip({{0, 1}, {3, 2}}, 4).has_value());
  CHECK_THAT(group_error({{0}, {1}}, 2), ContainsSubstring("at least two chips"));
}

TEST_CASE("in valid pairs no chip sends twice or receives twice") {
  CHECK(pair_error({{0, 1}, {1, 2}}, 4).empty());
  CHECK(pair_error({{0, 0}, {1, 2}}, 4).empty());  // self-pair
  CHECK_THAT(pair_error({{0, 1, 2}}, 4), ContainsSubstring("[0, 1, 2] is not a pair"));
  CHECK_THAT(pair_error({{0, 1}, {0, 2}}, 4), ContainsSubstring("chip 0 sends twice"));
  CHECK_THAT(pair_error({{0, 1}, {2, 1}}, 4), ContainsSubstring("chip 1 receives twice"));
  CHECK_THAT(pair_error({{0, 4}}, 4), ContainsSubstring("no chip 4"));
  CHECK_THAT(pair_error({{3, 3}}, 4), ContainsSubstring("no chip sends"));
  CHECK_THAT(pair_error({}, 4), ContainsSubstring("no chip sends"));
}

TEST_CASE("a shift along a mesh axis is recognized from its pairs") {
  const Mesh mesh =
      lay_mesh({2, 4}, {{.name = "data", .length = 2}, {.name = "model", .length = 4}});
  const Lists back = {{0, 3}, {1, 0}, {2, 1}, {3, 2}, {4, 7}, {5, 4}, {6, 5}, {7, 6}};
  REQUIRE(shift_of(back, mesh));
  CHECK((shift_of(back, mesh)->axis == 1 && shift_of(back, mesh)->steps == 3));
  const Lists across = {{0, 4}, {1, 5}, {2, 6}, {3, 7}, {4, 0}, {5, 1}, {6, 2}, {7, 3}};
  CHECK((shift_of(across, mesh)->axis == 0 && shift_of(across, mesh)->steps == 1));
  CHECK_FALSE(shift_of({{0, 1}, {1, 2}, {2, 3}, {3, 0}}, mesh));  // not all chips
  Lists mixed = back;
  std::swap(mixed[4][1], mixed[5][1]);
  CHECK_FALSE(shift_of(mixed, mesh));
}

TEST_CASE("equal lists are stored once, under a unique name") {
  StepGraph graph;
  graph.chip_lists.push_back({"chips 1", {{0, 1}}});
  CHECK(chip_lists_id(graph.chip_lists, {{0, 1}}) == 0);
  CHECK(chip_lists_id(graph.chip_lists, {{1, 0}}) == 1);
  CHECK(graph.chip_lists[1].name == "chips 2");
  CHECK(chip_lists_id(graph.chip_lists, {{1, 0}}) == 1);
}

TEST_CASE("text of the groups of a collective") {
  const Mesh mesh =
      lay_mesh({2, 4}, {{.name = "data", .length = 2}, {.name = "model", .length = 4}});
  const CollectiveCall along{.axes = {0, 1}};
  CHECK(over_text(along, mesh) == "data+model");
  CHECK(group_size(along, mesh) == 8);
  const CollectiveCall listed{.groups = ListedGroups{0, 2}};
  CHECK(over_text(listed, mesh) == "groups of 2");
  CHECK(group_size(listed, mesh) == 2);
}

}  // namespace
}  // namespace equarx::steps::chip_lists_test
