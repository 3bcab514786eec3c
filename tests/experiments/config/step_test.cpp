#include "experiments/config/step.hpp"

#include "experiments/config/topology.hpp"
#include "tests/catch.hpp"

namespace equarx::config::step_test {
namespace {

using collectives::Collective;
using Axes = std::vector<std::size_t>;

TopologyConfig torus() {
  TopologyConfig topology;
  topology.kind = TopologyKind::torus;
  topology.shape = {{4, 2, 8}, {true, false, true}};
  return topology;
}

TopologyConfig slices(TopologyConfig slice) {
  slice.network = NetworkConfig{.slices = 3,
                                .bandwidth = {.value = 25e9, .source = {}},
                                .latency = {.value = 1e-6, .source = {}},
                                .chips_per_port = 2};
  return slice;
}

TopologyConfig node() {
  TopologyConfig topology;
  topology.kind = TopologyKind::fully_connected;
  topology.chips = 8;
  return topology;
}

TEST_CASE("machine axes are the slices and the axes of a grid") {
  CHECK(machine_axes(torus(), {64}) == std::vector<std::uint32_t>{4, 2, 8});
  CHECK(machine_axes(slices(torus()), {3, 64}) == std::vector<std::uint32_t>{3, 4, 2, 8});
  CHECK(machine_axes(node(), {8}) == std::vector<std::uint32_t>{8});
  CHECK(machine_axes(slices(node()), {24}) == std::vector<std::uint32_t>{3, 8});
}

TEST_CASE("groups of chips on a switch are on one") {
  TopologyConfig topology;
  topology.kind = TopologyKind::on_switch;
  topology.chips = 8;
  CHECK(machine_axes(topology, {2, 4}) == std::vector<std::uint32_t>{2, 4});
  const TopologyConfig group = group_topology(topology, {2, 4}, {1});
  CHECK(group.kind == TopologyKind::on_switch);
  CHECK(group.chips == 4);
}

TEST_CASE("fully connected chips are divided like the mesh") {
  using Lengths = std::vector<std::uint32_t>;
  CHECK(machine_axes(node(), {2, 4}) == Lengths{2, 4});
  CHECK(machine_axes(node(), {1, 2, 1, 4}) == Lengths{2, 4});
  CHECK(machine_axes(slices(node()), {3, 2, 4}) == Lengths{3, 2, 4});
  CHECK(machine_axes(slices(node()), {3, 8}) == Lengths{3, 8});
  CHECK(machine_axes(node(), {3, 3}) == Lengths{8});
  CHECK(machine_axes(slices(node()), {8, 3}) == Lengths{3, 8});
  const TopologyConfig four = group_topology(node(), {2, 4}, Axes{1});
  CHECK(four.kind == TopologyKind::fully_connected);
  CHECK(four.chips == 4);
  CHECK(group_topology(node(), {2, 4}, Axes{0, 1}).chips == 8);
  const TopologyConfig across = group_topology(slices(node()), {3, 2, 4}, Axes{0, 2});
  CHECK(count_chips(across) == 12);
}

TEST_CASE("a group has the axes it spans") {
  const TopologyConfig plane = group_topology(torus(), {4, 2, 8}, Axes{0, 2});
  CHECK(plane.shape.lengths == std::vector<std::uint32_t>{4, 8});
  CHECK(plane.shape.wraparound == std::vector<bool>{true, true});
  const TopologyConfig within = group_topology(slices(torus()), {3, 4, 2, 8}, Axes{2});
  CHECK_FALSE(within.network);
  CHECK(within.shape.lengths == std::vector<std::uint32_t>{2});
  const TopologyConfig across = group_topology(slices(node()), {3, 8}, Axes{0});
  REQUIRE(across.network);
  CHECK(count_chips(across) == 3);
  CHECK(count_chips_of_slice(across) == 1);
  const TopologyConfig all = group_topology(slices(node()), {3, 8}, Axes{0, 1});
  CHECK(count_chips(all) == 24);
}

TEST_CASE("the default algorithm can run on the topology") {
  const auto name = [](Collective collective, const TopologyConfig& group) {
    return usual_algorithm(collective, group)->name;
  };
  CHECK(name(Collective::all_reduce, torus()) == "torus");
  CHECK(name(Collective::all_gather, torus()) == "torus");
  CHECK(name(Collective::all_to_all, torus()) == "direct");
  CHECK(name(Collective::all_reduce, node()) == "two-shot");
  CHECK(name(Collective::reduce_scatter, node()) == "direct");
  CHECK(name(Collective::all_gather, slices(torus())) == "hierarchical");
  CHECK(name(Collective::all_reduce, slices(node())) == "hierarchical-two-shot");
  CHECK(name(Collective::all_to_all, slices(node())) == "direct");
  CHECK(name(Collective::all_reduce, group_topology(slices(torus()), {3, 4, 2, 8}, Axes{0})) ==
        "two-shot");
}

}  // namespace
}  // namespace equarx::config::step_test
