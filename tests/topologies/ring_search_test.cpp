#include "topologies/ring_search.hpp"

#include <chrono>
#include <stdexcept>

#include "tests/catch.hpp"
#include "tests/topologies/graphs.hpp"
#include "tests/topologies/rings.hpp"
#include "tests/topologies/shapes.hpp"
#include "topologies/fully_connected.hpp"

namespace equarx::topology::ring_search_test {
namespace {

/// Empty if the search found a valid ring over the remaining links, else the defect.
std::string fault_of(const RingSearch& search, const Topology& topology,
                     const std::vector<Cable>& avoid) {
  if (search.outcome != RingOutcome::found) return "no ring: " + search.reason;
  if (!search.reason.empty()) return "a reason for no ring: " + search.reason;
  if (search.ring.front() != 0) return "does not start at chip 0";
  return fault_of(search.ring, without(topology, avoid));
}

/// Random links of a topology.
std::vector<Cable> some_cables(const Topology& topology, std::size_t count, Random& random) {
  const std::vector<Cable> all = cables_of(topology);
  std::vector<Cable> cables;
  for (std::size_t i = 0; i < count; ++i) cables.push_back(all[random.below(all.size())]);
  return cables;
}

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

TEST_CASE("on small grids with a missing link the search decides correctly if a ring exists") {
  int found = 0;
  int none = 0;
  for (const GridShape& shape : all_small_shapes(5, 12)) {
    const Topology grid = make_grid(shape);
    for (const Cable& cable : cables_of(grid)) {
      CAPTURE(describe(shape), cable.first, cable.second);
      const RingSearch search = find_ring(grid, {cable}, shape);
      const bool exists = ring_exists(without(grid, {cable}));
      CHECK(search.outcome == (exists ? RingOutcome::found : RingOutcome::none));
      if (exists) CHECK(fault_of(search, grid, {cable}) == "");
      ++(exists ? found : none);
    }
  }
  CHECK(found > 500);
  CHECK(none > 500);
}

TEST_CASE("on random graphs the search decides correctly if a ring exists") {
  Random random(7);
  int found = 0;
  int none = 0;
  for (int i = 0; i < 400; ++i) {
    const std::uint32_t chips = 3 + random.below(9);
    const std::uint32_t most = chips * (chips - 1) / 2;
    const Topology graph = random_graph(chips, std::min(chips + random.below(chips), most), random);
    const std::vector<Cable> avoid = some_cables(graph, random.below(3), random);
    const RingSearch search = find_ring(graph, avoid, std::nullopt);
    const bool exists = ring_exists(without(graph, avoid));
    CAPTURE(i, chips, search.reason);
    CHECK(search.outcome == (exists ? RingOutcome::found : RingOutcome::none));
    if (exists) CHECK(fault_of(search, graph, avoid) == "");
    if (!exists) CHECK_FALSE(search.reason.empty());
    ++(exists ? found : none);
  }
  CHECK(found > 50);
  CHECK(none > 50);
}

TEST_CASE("slices of real machines have rings that avoid one or two failed links") {
  Random random(1);
  const std::vector<GridShape> shapes{mesh({8, 16}),  torus({16, 16}),          mesh({4, 4}),
                                      mesh({16, 16}), {{8, 16}, {false, true}}, torus({4, 4, 4}),
                                      mesh({8, 8, 8})};
  for (const GridShape& shape : shapes) {
    const Topology grid = make_grid(shape);
    for (int i = 0; i < 40; ++i) {
      const std::vector<Cable> avoid = some_cables(grid, 1 + i % 2, random);
      const RingSearch search = find_ring(grid, avoid, shape);
      CAPTURE(describe(shape), search.reason, avoid[0].first, avoid[0].second);
      if (search.outcome == RingOutcome::none) {  // a corner that lost a link
        CHECK_THAT(search.reason, ContainsSubstring("usable link"));
      } else {
        CHECK(fault_of(search, grid, avoid) == "");
      }
    }
  }
}

TEST_CASE("the search is fast on large machines") {
  const GridShape shape = torus({16, 20, 28});
  const Topology grid = make_grid(shape);
  const Stopwatch stopwatch;
  const std::vector<Cable> avoid = {{0, 1}, {0, 28}, {5000, 5001}};
  CHECK(fault_of(find_ring(grid, avoid, shape), grid, avoid) == "");
  CHECK(stopwatch.seconds() < 10.0);  // generous: allows for loaded machines and sanitizers
}

TEST_CASE("the search is fast on a small graph whose rings cannot be merged") {
  // Chips 5, 6 and 7 form one ring, the others another, and no exchange of links merges them.
  const Topology graph(8, {{0, 1},
                           {0, 2},
                           {0, 3},
                           {0, 7},
                           {1, 2},
                           {1, 4},
                           {2, 3},
                           {2, 7},
                           {3, 4},
                           {4, 5},
                           {5, 6},
                           {5, 7},
                           {6, 7}});
  const Stopwatch stopwatch;
  for (int i = 0; i < 200; ++i)
    CHECK(fault_of(find_ring(graph, {}, std::nullopt), graph, {}) == "");
  CHECK(stopwatch.seconds() < 10.0);  // regression: took 24 s
}

TEST_CASE("rings are found without the shape of the grid") {
  for (const GridShape& shape : {mesh({8, 16}), torus({16, 16}), torus({5, 5}), torus({4, 4, 4}),
                                 mesh({3, 4, 5}), torus({3, 3, 3}), mesh({32, 32})}) {
    CAPTURE(describe(shape));
    const Topology grid = make_grid(shape);
    CHECK(fault_of(find_ring(grid, {}, std::nullopt), grid, {}) == "");
  }
  CHECK(fault_of(find_ring(twisted_torus(4), {}, std::nullopt), twisted_torus(4), {}) == "");
  const std::vector<Cable> avoid = {{0, 1}, {17, 33}};
  CHECK(fault_of(find_ring(twisted_torus(8), avoid, std::nullopt), twisted_torus(8), avoid) == "");
  const Topology many = make_fully_connected(kMaxFullyConnected);
  CHECK(find_ring(many, {{0, 1}}, std::nullopt).outcome == RingOutcome::found);
  const Topology all = make_fully_connected(50);
  CHECK(fault_of(find_ring(all, {{0, 1}}, std::nullopt), all, {{0, 1}}) == "");
}

TEST_CASE("one chip is a ring, and so are two chips with one link") {
  const Topology one(1, {});
  CHECK(find_ring(one, {}, std::nullopt).ring == std::vector<ChipId>{0});
  const Topology two(2, {{1, 0}});
  CHECK(find_ring(two, {}, std::nullopt).ring == std::vector<ChipId>{0, 1});
  const RingSearch none = find_ring(two, {{0, 1}}, std::nullopt);
  CHECK(none.outcome == RingOutcome::none);
  CHECK_THAT(none.reason, ContainsSubstring("no usable link joins chips 0 and 1"));
}

TEST_CASE("a proof that no ring exists states its reason") {
  const auto reason_of = [](const Topology& graph, const std::vector<Cable>& avoid = {}) {
    const RingSearch search = find_ring(graph, avoid, std::nullopt);
    CHECK(search.outcome == RingOutcome::none);
    CHECK(search.ring.empty());
    return search.reason;
  };
  CHECK(reason_of(make_grid(mesh({4, 4})), {{0, 1}}) ==
        "chip (0,0) has only 1 usable link, and a ring needs 2");
  CHECK(reason_of(make_grid(mesh({1, 3}))) ==
        "chip (0,0) has only 1 usable link, and a ring needs 2");
  CHECK_THAT(reason_of(make_grid(mesh({3, 3}))), ContainsSubstring("parts of 5 and 4 chips"));
  const Topology bow_tie(5, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 2}});
  CHECK(reason_of(bow_tie) == "every path between two parts leads through chip 2");
  const Topology apart(6, {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}});
  CHECK(reason_of(apart) == "no usable links lead from chip 0 to chip 3");
  // K(2,3) with a link between the two chips of its smaller part, so that it is not bipartite.
  const Topology two_in_the_middle(5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 2}, {1, 3}, {1, 4}});
  CHECK(reason_of(two_in_the_middle) ==
        "its usable links have no 2-factor (two links at every chip)");
  CHECK(reason_of(petersen()) == "an exhaustive search found none");
}

TEST_CASE("the search gives up at its budget and reports it") {
  for (const std::uint64_t budget : {0U, 1U, 20U}) {
    const RingSearch search = find_ring(petersen(), {}, std::nullopt, budget);
    CHECK(search.outcome == RingOutcome::not_found);
    CHECK(search.ring.empty());
    CHECK(search.reason == "the search gave up after " + std::to_string(budget) + " steps");
  }
}

TEST_CASE("the search terminates in time on a graph that is too large for it") {
  const Topology grid = make_grid(torus({256, 256}));
  const Stopwatch stopwatch;
  const RingSearch search = find_ring(grid, {{0, 1}}, std::nullopt);
  CHECK(search.outcome != RingOutcome::none);
  CHECK(stopwatch.seconds() < 20.0);
}

TEST_CASE("the search is deterministic") {
  const Topology graph = twisted_torus(6);
  CHECK(find_ring(graph, {{0, 1}}, std::nullopt).ring ==
        find_ring(graph, {{1, 0}, {0, 1}}, std::nullopt).ring);
}

TEST_CASE("invalid arguments of the ring search are rejected") {
  const Topology grid = make_grid(mesh({4, 2}));
  REQUIRE_THROWS_WITH(find_ring(grid, {{0, 3}}, std::nullopt),
                      ContainsSubstring("no link joins (0,0) and (1,1); avoid only links"));
  REQUIRE_THROWS_AS(find_ring(grid, {{0, 8}}, std::nullopt), std::invalid_argument);
  REQUIRE_THROWS_AS(find_ring(grid, {}, mesh({2, 2})), std::logic_error);
}

}  // namespace
}  // namespace equarx::topology::ring_search_test
