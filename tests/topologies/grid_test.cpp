#include "topologies/grid.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "tests/catch.hpp"
#include "tests/topologies/shapes.hpp"

namespace equarx::topology::grid_test {
namespace {

TEST_CASE("lengths are parsed and formatted") {
  CHECK(parse_lengths("4x2") == std::vector<std::uint32_t>{4, 2});
  CHECK(parse_lengths("4X2") == std::vector<std::uint32_t>{4, 2});
  CHECK(parse_lengths("4*2*1") == std::vector<std::uint32_t>{4, 2, 1});
  CHECK(parse_lengths("16") == std::vector<std::uint32_t>{16});
  CHECK(parse_lengths("16x20x28") == std::vector<std::uint32_t>{16, 20, 28});
  CHECK(parse_lengths("4096x4096") == std::vector<std::uint32_t>{4096, 4096});
  CHECK(format_lengths({4, 2}) == "4x2");
  CHECK(format_lengths({16}) == "16");
}

TEST_CASE("malformed shapes are rejected with an example") {
  for (const std::string text : {"", "x", "4x", "x4", "4xx2", "0x2", "4x0", "axb", "4x2b", "-4x2",
                                 "+4x2", " 4x2", "4x2 ", "4X", "4**2", "4.0x2", "0x10"}) {
    CAPTURE(text);
    REQUIRE_THROWS_AS(parse_lengths(text), std::invalid_argument);
    REQUIRE_THROWS_WITH(parse_lengths(text), ContainsSubstring('"' + text + '"') &&
                                                 ContainsSubstring("such as \"4x2\""));
  }
}

TEST_CASE("shapes with too many chips are rejected before they are built") {
  for (const std::string text : {"16777217", "4096x4097", "4294967295x4294967295", "4294967296",
                                 "65536x65536x65536x65536", "99999999999999999999x2"}) {
    CAPTURE(text);
    REQUIRE_THROWS_AS(parse_lengths(text), std::invalid_argument);
    REQUIRE_THROWS_WITH(parse_lengths(text),
                        ContainsSubstring(text) && ContainsSubstring("16777216 chips"));
  }
  REQUIRE_THROWS_WITH(make_grid(mesh({65536, 65536})), ContainsSubstring("65536x65536"));
}

TEST_CASE("inconsistent shapes are rejected") {
  REQUIRE_THROWS_AS(make_grid({{}, {}}), std::invalid_argument);
  REQUIRE_THROWS_WITH(make_grid(mesh({4, 0})), ContainsSubstring("4x0"));
  REQUIRE_THROWS_AS(make_grid({{4, 2}, {true}}), std::invalid_argument);
  REQUIRE_THROWS_WITH(make_grid({{4, 2}, {}}),
                      ContainsSubstring("0 axes of the grid 4x2; give it for each of its 2 axes"));
}

TEST_CASE("chips are numbered in row-major order") {
  const GridShape shape = mesh({4, 2});
  CHECK(coordinates_of(shape, 1) == Coordinates{0, 1});
  CHECK(coordinates_of(shape, 2) == Coordinates{1, 0});
  CHECK(chip_at(shape, {3, 1}) == 7);
  CHECK(chip_at(mesh({2, 3, 5}), {1, 2, 3}) == 1 * 15 + 2 * 5 + 3);
  CHECK(make_grid(shape).label(2) == "(1,0)");
  CHECK(make_grid(mesh({12})).label(11) == "(11)");
}

TEST_CASE("coordinates_of and chip_at are inverse functions") {
  for (const GridShape& shape : {mesh({7}), mesh({4, 2}), torus({3, 1, 5}), mesh({2, 3, 4, 5})}) {
    CAPTURE(describe(shape));
    std::set<Coordinates> seen;
    for (ChipId chip = 0; chip < chip_count(shape); ++chip) {
      const Coordinates coordinates = coordinates_of(shape, chip);
      CHECK(chip_at(shape, coordinates) == chip);
      seen.insert(coordinates);
    }
    CHECK(seen.size() == chip_count(shape));
  }
}

TEST_CASE("coordinates and ids outside the grid are rejected") {
  const GridShape shape = torus({4, 2});
  REQUIRE_THROWS_WITH(coordinates_of(shape, 8), ContainsSubstring("chip 8 does not exist on the "
                                                                  "grid 4x2; chips are 0 to 7"));
  REQUIRE_THROWS_AS(coordinates_of(shape, 8), std::invalid_argument);
  REQUIRE_THROWS_WITH(chip_at(shape, {0, 2}), ContainsSubstring("(0,2) is outside the grid 4x2"));
  REQUIRE_THROWS_AS(chip_at(shape, {4, 0}), std::invalid_argument);
  REQUIRE_THROWS_AS(chip_at(shape, {1}), std::invalid_argument);
  REQUIRE_THROWS_AS(chip_at(shape, {1, 1, 0}), std::invalid_argument);
}

TEST_CASE("a mesh has the links of its rows and columns") {
  for (std::uint32_t a = 1; a <= 6; ++a) {
    for (std::uint32_t b = 1; b <= 6; ++b) {
      CAPTURE(a, b);
      CHECK(make_grid(mesh({a, b})).link_count() == 2 * (a * (b - 1) + b * (a - 1)));
    }
  }
  CHECK(make_grid(mesh({1})).link_count() == 0);
}

TEST_CASE("every chip of a torus has two links out along each axis") {
  CHECK(make_grid(torus({16, 16})).link_count() == 4 * 256);
  CHECK(make_grid(torus({4, 4, 4})).link_count() == 6 * 64);
  const Topology topology = make_grid(torus({3, 5}));
  for (ChipId chip = 0; chip < 15; ++chip) CHECK(topology.out_links(chip).size() == 4);
}

TEST_CASE("wraparound adds no link to axes of length 1 and 2") {
  CHECK_FALSE(has_wraparound_links(torus({1, 2, 3}), 0));
  CHECK_FALSE(has_wraparound_links(torus({1, 2, 3}), 1));
  CHECK(has_wraparound_links(torus({1, 2, 3}), 2));
  CHECK_FALSE(has_wraparound_links(mesh({3}), 0));
  CHECK(make_grid(torus({2, 1, 2})).link_count() == make_grid(mesh({2, 1, 2})).link_count());
  CHECK(make_grid(torus({2})).link_count() == 2);
  CHECK(make_grid(torus({3})).link_count() == 6);
}

/// Distance of two coordinates of an axis, by the definition of a mesh and a torus.
std::uint32_t hops_apart(const GridShape& shape, ChipId one, ChipId other) {
  const Coordinates a = coordinates_of(shape, one);
  const Coordinates b = coordinates_of(shape, other);
  std::uint32_t hops = 0;
  for (std::size_t axis = 0; axis < a.size(); ++axis) {
    const std::uint32_t direct = std::max(a[axis], b[axis]) - std::min(a[axis], b[axis]);
    hops += shape.wraparound[axis] ? std::min(direct, shape.lengths[axis] - direct) : direct;
  }
  return hops;
}

TEST_CASE("two chips are linked if and only if their distance is 1") {
  for (const GridShape& shape : all_small_shapes(5, 40)) {
    CAPTURE(describe(shape));
    const Topology topology = make_grid(shape);
    std::uint32_t mistakes = 0;
    for (ChipId from = 0; from < topology.chip_count(); ++from) {
      for (ChipId to = 0; to < topology.chip_count(); ++to) {
        const bool linked = topology.find_link(from, to).has_value();
        if (linked != (hops_apart(shape, from, to) == 1)) ++mistakes;
      }
    }
    CHECK(mistakes == 0);
  }
}

TEST_CASE("the canonical order of axes is the same however they are written") {
  using Axes = std::vector<std::size_t>;
  CHECK(canonical_axes(mesh({8, 2, 4})) == Axes{1, 2, 0});
  CHECK(canonical_axes(mesh({2, 4, 8})) == Axes{0, 1, 2});
  CHECK(canonical_axes(GridShape{{4, 4}, {true, false}}) == Axes{1, 0});
  CHECK(canonical_axes(torus({4, 4})) == Axes{0, 1});
}

}  // namespace
}  // namespace equarx::topology::grid_test
