#include "topologies/drawing.hpp"

#include <stdexcept>

#include "tests/catch.hpp"
#include "tests/topologies/shapes.hpp"
#include "topologies/fully_connected.hpp"
#include "topologies/layout.hpp"
#include "topologies/ring.hpp"

namespace equarx::topology::drawing_test {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

/// Counts the links drawn: thin grey lines.
std::size_t cables_in(const std::string& svg) { return count(svg, "stroke=\"#5A5A5A\""); }

bool overlap(const Layout& layout, ChipId a, ChipId b) {
  const Point apart = layout.chips[a] - layout.chips[b];
  return std::abs(apart.x) < layout.box.x && std::abs(apart.y) < layout.box.y;
}

TEST_CASE("chips do not overlap") {
  std::vector<std::pair<Topology, std::optional<GridShape>>> cases;
  for (const GridShape& shape :
       {mesh({4, 2}), mesh({16, 16}), torus({4, 4, 4}), mesh({3, 12, 5}), torus({12, 2, 2}),
        mesh({1, 4, 1, 2}), mesh({2, 2, 2, 2}), mesh({1, 1}), mesh({9})}) {
    cases.emplace_back(make_grid(shape), shape);
    cases.emplace_back(make_grid(shape), std::nullopt);
  }
  cases.emplace_back(make_fully_connected(3), std::nullopt);
  cases.emplace_back(make_fully_connected(100), std::nullopt);
  cases.emplace_back(Topology(2, {{0, 1}}, {"a", "a chip with a rather long name"}), std::nullopt);
  for (const auto& [topology, shape] : cases) {
    const Layout layout = lay_out(topology, shape);
    CAPTURE(topology.chip_count(), topology.label(0));
    REQUIRE(layout.chips.size() == topology.chip_count());
    int overlaps = 0;
    for (ChipId a = 0; a < topology.chip_count(); ++a) {
      for (ChipId b = 0; b < a; ++b) overlaps += overlap(layout, a, b) ? 1 : 0;
    }
    CHECK(overlaps == 0);
  }
}

TEST_CASE("every chip and link is drawn once, wraparound links at both ends") {
  const std::string slice = draw_svg(make_grid(mesh({4, 2})), {.shape = mesh({4, 2})});
  CHECK(count(slice, "<rect") == 1 + 8);
  CHECK(cables_in(slice) == 10);
  CHECK(count(slice, ">(3,1)</text>") == 1);
  CHECK(slice.starts_with("<svg "));
  CHECK(slice.ends_with("</svg>\n"));
  const std::string pod = draw_svg(make_grid(torus({4, 4})), {.shape = torus({4, 4})});
  CHECK(cables_in(pod) == 24 + 2 * 8 + 1);  // plus one in the legend
  CHECK_THAT(pod, ContainsSubstring("end of a wraparound link"));
  CHECK(cables_in(draw_svg(make_fully_connected(8), {})) == 28);
  CHECK(cables_in(draw_svg(make_grid(mesh({1, 1})), {.shape = mesh({1, 1})})) == 0);
}

TEST_CASE("the links of the ring are highlighted") {
  const auto highlighted = [](const GridShape& shape) {
    return count(draw_svg(make_grid(shape), {.shape = shape, .ring = hamiltonian_ring(shape)}),
                 "stroke=\"#E69F00\"");
  };
  CHECK(highlighted(mesh({4, 2})) == 8 + 1);       // plus one in the legend
  CHECK(highlighted(torus({1, 5})) == 4 + 2 + 1);  // the last link wraps around
  CHECK_THAT(draw_svg(make_grid(mesh({4, 2})), {.ring = hamiltonian_ring(mesh({4, 2}))}),
             ContainsSubstring("ring, from (0,0) on"));
}

TEST_CASE("values are drawn per link direction, wider and darker for higher values") {
  const Topology two(2, {{0, 1}});
  const std::string svg = draw_svg(two, {.values = {0.0, 1.0}, .value_name = "utilisation"});
  CHECK(cables_in(svg) == 0);
  CHECK(count(svg, "stroke=\"#c7e9b4\" stroke-width=\"1.0\"") == 2);
  CHECK(count(svg, "stroke=\"#081d58\" stroke-width=\"5.5\"") == 2);
  CHECK_THAT(svg, ContainsSubstring("utilisation of each direction, 0 to 1"));
}

TEST_CASE("names and captions are escaped") {
  const Topology two(2, {{0, 1}}, {"<a&\"b\">", "c\n"});
  const std::string svg = draw_svg(two, {.caption = "1 < 2 & \x01"});
  CHECK_THAT(svg, ContainsSubstring(">&lt;a&amp;&quot;b&quot;&gt;</text>"));
  CHECK_THAT(svg, ContainsSubstring(">c?</text>"));
  CHECK_THAT(svg, ContainsSubstring(">1 &lt; 2 &amp; ?</text>"));
}

TEST_CASE("invalid drawings are rejected") {
  const Topology grid = make_grid(mesh({2, 2}));
  REQUIRE_THROWS_AS(draw_svg(grid, {.shape = mesh({2, 3})}), std::logic_error);
  REQUIRE_THROWS_AS(draw_svg(grid, {.values = {1.0}}), std::logic_error);
  REQUIRE_THROWS_AS(draw_svg(grid, {.values = std::vector<double>(8, 1.5)}), std::logic_error);
  REQUIRE_THROWS_WITH(draw_svg(make_grid(mesh({100, 100})), {}),
                      ContainsSubstring("10000 chips is not legible; draw at most 4096"));
}

}  // namespace
}  // namespace equarx::topology::drawing_test
