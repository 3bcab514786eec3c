#include "topologies/metrics.hpp"

#include <cmath>
#include <stdexcept>

#include "tests/catch.hpp"
#include "tests/topologies/graphs.hpp"
#include "tests/topologies/shapes.hpp"
#include "topologies/fully_connected.hpp"
#include "topologies/route.hpp"

namespace equarx::topology::metrics_test {
namespace {

std::vector<double> ones(const Topology& topology) {
  return std::vector<double>(topology.link_count() / 2, 1.0);
}

/// Reference: minimum-weight bisection over all assignments of sides.
double lightest_cut(const Topology& topology, const std::vector<double>& weights) {
  const std::uint32_t chips = topology.chip_count();
  double least = INFINITY;
  for (std::uint32_t half = 0; half < (1U << chips); ++half) {
    if (static_cast<std::uint32_t>(__builtin_popcount(half)) != chips / 2) continue;
    double weight = 0.0;
    for (std::size_t cable = 0; cable < weights.size(); ++cable) {
      const Link link = topology.link(static_cast<LinkId>(2 * cable));
      if (((half >> link.from) & 1U) != ((half >> link.to) & 1U)) weight += weights[cable];
    }
    least = std::min(least, weight);
  }
  return least;
}

TEST_CASE("closed-form distances of grids match the search") {
  for (const GridShape& shape : all_small_shapes(7, 120)) {
    CAPTURE(describe(shape));
    const Distances searched = distances(make_grid(shape));
    const Distances computed = distances(shape);
    CHECK(computed.diameter == searched.diameter);
    CHECK(computed.average == Approx(searched.average));
  }
}

TEST_CASE("distances match the lengths of shortest routes") {
  Random random(3);
  const Topology graph = random_graph(30, 45, random);
  double sum = 0.0;
  std::size_t longest = 0;
  for (ChipId from = 0; from < 30; ++from) {
    for (ChipId to = 0; to < 30; ++to) {
      const std::size_t hops = breadth_first_route(graph, from, to).size();
      sum += static_cast<double>(hops);
      longest = std::max(longest, hops);
    }
  }
  CHECK(distances(graph).diameter == longest);
  CHECK(distances(graph).average == Approx(sum / (30.0 * 29.0)));
  CHECK(distances(make_fully_connected(9)).average == 1.0);
  CHECK(distances(Topology(1, {})).average == 0.0);
  CHECK(distances(petersen()).diameter == 2);
  REQUIRE_THROWS_AS(distances(Topology(3, {{0, 1}})), std::invalid_argument);
}

TEST_CASE("degree ranges") {
  const DegreeRange slice = degree_range(make_grid(mesh({4, 4})));
  CHECK((slice.least == 2 && slice.most == 4));
  const DegreeRange pod = degree_range(make_grid(torus({4, 4, 4})));
  CHECK((pod.least == 6 && pod.most == 6));
  const DegreeRange one = degree_range(Topology(1, {}));
  CHECK((one.least == 0 && one.most == 0));
}

TEST_CASE("the closed-form bisection of grids matches exhaustive search") {
  for (const GridShape& shape : all_small_shapes(9, 16)) {
    CAPTURE(describe(shape));
    const Topology grid = make_grid(shape);
    const Bisection formula = bisection(shape, 2.0);
    CHECK(formula.exact);
    CHECK(formula.weight == 2.0 * formula.cables);
    CHECK(formula.cables == lightest_cut(grid, ones(grid)));
    CHECK(bisection(grid, ones(grid)).weight == formula.cables);
  }
  // Two axes with wraparound and one without, all odd.
  for (const GridShape& shape :
       {GridShape{{3, 3, 2}, {true, true, false}}, GridShape{{3, 6}, {true, false}}, torus({4, 5}),
        mesh({4, 5}), GridShape{{4, 5}, {true, false}}, GridShape{{4, 5}, {false, true}}}) {
    CAPTURE(describe(shape));
    const Topology grid = make_grid(shape);
    CHECK(bisection(shape, 1.0).cables == bisection(grid, ones(grid)).cables);
  }
}

TEST_CASE("bisections of known machines") {
  CHECK(bisection(mesh({4, 2}), 1.0).cables == 2);
  CHECK(bisection(torus({16, 16}), 1.0).cables == 32);
  CHECK(bisection(mesh({8, 16}), 1.0).cables == 8);
  CHECK(bisection(GridShape{{8, 16}, {false, true}}, 1.0).cables == 16);
  CHECK(bisection(torus({4, 4, 4}), 1.0).cables == 32);
  CHECK(bisection(torus({16, 20, 28}), 1.0).cables == 640);
  CHECK(bisection(mesh({1, 1}), 1.0).cables == 0);
  CHECK(bisection(mesh({5, 5}), 1.0).cables == 6);
}

TEST_CASE("bisections with unequal weights match exhaustive search") {
  Random random(5);
  for (int i = 0; i < 30; ++i) {
    const std::uint32_t chips = 2 + random.below(11);
    const std::uint32_t cables = std::min(chips - 1 + random.below(chips), chips * (chips - 1) / 2);
    const Topology graph = random_graph(chips, cables, random);
    std::vector<double> weights;
    for (std::uint32_t cable = 0; cable < cables; ++cable) weights.push_back(random.below(9));
    const Bisection result = bisection(graph, weights);
    CAPTURE(i, chips);
    CHECK(result.exact);
    CHECK(result.weight == lightest_cut(graph, weights));
  }
}

TEST_CASE("the bisection bound of larger graphs is tight on known graphs") {
  for (const GridShape& shape : {mesh({4, 6}), torus({6, 6}), mesh({8, 16}), torus({4, 4, 4})}) {
    CAPTURE(describe(shape));
    const Topology grid = make_grid(shape);
    const Bisection bound = bisection(grid, ones(grid));
    CHECK_FALSE(bound.exact);
    CHECK(bound.cables == bisection(shape, 1.0).cables);
  }
  // Two islands and a bridge, for weights in any unit.
  std::vector<Cable> cables{{0, 31}};
  for (ChipId chip = 0; chip < 16; ++chip) {
    for (ChipId other = 0; other < chip; ++other) {
      cables.push_back({2 * chip, 2 * other});
      cables.push_back({2 * chip + 1, 2 * other + 1});
    }
  }
  const Topology islands(32, cables);
  for (const double unit : {1.0, 45e9, 1e-12}) {
    CHECK(bisection(islands, std::vector<double>(cables.size(), unit)).weight == Approx(unit));
  }
}

TEST_CASE("the bisection of a fully connected topology is exact") {
  for (const std::uint32_t chips : {1U, 2U, 7U, 20U, 21U, 64U}) {
    const Topology all = make_fully_connected(chips);
    const Bisection result = bisection(all, ones(all));
    CHECK(result.exact);
    CHECK(result.cables == (chips / 2) * ((chips + 1) / 2));
  }
  const Topology all = make_fully_connected(30);
  std::vector<double> weights = ones(all);
  weights.back() = 2.0;
  CHECK_FALSE(bisection(all, weights).exact);
}

TEST_CASE("missing and negative weights are rejected") {
  const Topology grid = make_grid(mesh({2, 2}));
  REQUIRE_THROWS_WITH(bisection(grid, std::vector<double>{1.0}),
                      ContainsSubstring("1 weights for 4 links"));
  for (const double wrong : {-1.0, std::nan("")}) {
    REQUIRE_THROWS_AS(bisection(grid, std::vector<double>{1.0, 1.0, wrong, 1.0}),
                      std::invalid_argument);
  }
}

}  // namespace
}  // namespace equarx::topology::metrics_test
