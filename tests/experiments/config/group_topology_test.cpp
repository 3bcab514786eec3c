#include "experiments/config/group_topology.hpp"

#include <vector>

#include "experiments/config/mesh_json.hpp"
#include "experiments/config/topology.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/config/topologies.hpp"

namespace equarx::config::group_topology_test {
namespace {

using topologies::node;
using topologies::slices;
using topologies::torus;
using topologies::whole;
using Axes = std::vector<std::size_t>;
using Lengths = std::vector<std::uint32_t>;
using Lists = std::vector<std::vector<std::uint32_t>>;

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
  const TopologyConfig group = group_topology(topology, whole({2, 4}), Axes{1});
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
  const TopologyConfig four = group_topology(node(), whole({2, 4}), Axes{1});
  CHECK(four.kind == TopologyKind::fully_connected);
  CHECK(four.chips == 4);
  CHECK(group_topology(node(), whole({2, 4}), Axes{0, 1}).chips == 8);
  const TopologyConfig across = group_topology(slices(node()), whole({3, 2, 4}), Axes{0, 2});
  CHECK(count_chips(across) == 12);
}

TEST_CASE("a group has the axes it spans") {
  const TopologyConfig plane = group_topology(torus(), whole({4, 2, 8}), Axes{0, 2});
  CHECK(plane.shape.lengths == std::vector<std::uint32_t>{4, 8});
  CHECK(plane.shape.wraparound == std::vector<bool>{true, true});
  const TopologyConfig within = group_topology(slices(torus()), whole({3, 4, 2, 8}), Axes{2});
  CHECK_FALSE(within.network);
  CHECK(within.shape.lengths == std::vector<std::uint32_t>{2});
  const TopologyConfig across = group_topology(slices(node()), whole({3, 8}), Axes{0});
  REQUIRE(across.network);
  CHECK(count_chips(across) == 3);
  CHECK(count_chips_of_slice(across) == 1);
  const TopologyConfig all = group_topology(slices(node()), whole({3, 8}), Axes{0, 1});
  CHECK(count_chips(all) == 24);
}

TopologyConfig grid(const Lengths& lengths, bool wraps) {
  TopologyConfig topology;
  topology.kind = wraps ? TopologyKind::torus : TopologyKind::mesh;
  topology.shape = {lengths, std::vector<bool>(lengths.size(), wraps)};
  return topology;
}

steps::CollectiveCall along(Axes axes) { return {.axes = std::move(axes)}; }

/// Groups given as lists of positions of a mesh.
GroupPlace listed(const TopologyConfig& topology, Lists groups, const steps::Mesh& mesh) {
  const auto size = static_cast<std::uint32_t>(groups.front().size());
  const std::vector<steps::ChipLists> lists = {{"groups", std::move(groups)}};
  return group_place(topology, mesh, {.groups = steps::ListedGroups{0, size}}, lists);
}

TEST_CASE("neighbours on a ring are a line, and every n-th chip a ring that shares links") {
  const TopologyConfig ring = grid({16}, true);
  const steps::Mesh mesh =
      lay_on(ring, {{.name = "slow", .length = 4}, {.name = "fast", .length = 4}},
             steps::DeviceOrder::jax);
  const GroupPlace fast = group_place(ring, mesh, along({1}), {});
  CHECK(fast.has_own_links);
  CHECK(fast.topology.shape.lengths == Lengths{4});
  CHECK_FALSE(fast.topology.shape.wraparound[0]);
  CHECK(fast.members[1] == std::vector<topology::ChipId>{4, 5, 6, 7});
  const GroupPlace slow = group_place(ring, mesh, along({0}), {});
  CHECK_FALSE(slow.has_own_links);
  CHECK(slow.topology.shape.wraparound[0]);
  CHECK(slow.members[1] == std::vector<topology::ChipId>{1, 5, 9, 13});
  CHECK(group_place(ring, mesh, along({0, 1}), {}).topology.shape.lengths == Lengths{16});
}

TEST_CASE("listed groups have the topology and the links of the same groups along axes") {
  for (const auto& [topology, lengths] : {std::pair{grid({4, 4}, false), Lengths{8, 2}},
                                          {grid({4, 4}, true), {2, 8}},
                                          {grid({2, 2, 4}, true), {2, 2, 4}},
                                          {grid({8, 4}, false), {2, 4, 4}},
                                          {slices(torus()), {3, 2, 32}},
                                          {slices(node()), {12, 2}},
                                          {slices(node()), {3, 2, 4}}}) {
    std::vector<steps::MeshAxis> axes;
    for (const std::uint32_t length : lengths)
      axes.push_back({.name = "a" + std::to_string(axes.size()), .length = length});
    const steps::Mesh mesh = lay_on(topology, axes, steps::DeviceOrder::jax);
    for (std::size_t axis = 0; axis < lengths.size(); ++axis) {
      CAPTURE(topology_text(topology), lengths, axis);
      const GroupPlace one = group_place(topology, mesh, along({axis}), {});
      const GroupPlace other = listed(topology, mesh.groups_along(Axes{axis}), mesh);
      CHECK(one.has_own_links == other.has_own_links);
      CHECK(one.members == other.members);
      CHECK(one.topology.kind == other.topology.kind);
      CHECK(count_chips(one.topology) == count_chips(other.topology));
      if (!is_grid(topology)) continue;
      CHECK(one.topology.shape.lengths == other.topology.shape.lengths);
      CHECK(one.topology.shape.wraparound == other.topology.shape.wraparound);
    }
  }
}

TEST_CASE("chips of a group across slices are numbered along the parts of the mesh") {
  TopologyConfig nodes = slices(node());
  nodes.network->slices = 16;
  const auto axis = [](const char* name, std::uint32_t length) {
    return steps::MeshAxis{.name = name, .length = length};
  };
  // Slices of a stage need not be neighbours.
  for (const auto& axes : {std::vector{axis("data", 2), axis("pipeline", 2), axis("expert", 32)},
                           std::vector{axis("pipeline", 2), axis("data", 2), axis("expert", 32)}}) {
    const steps::Mesh mesh = lay_on(nodes, axes, steps::DeviceOrder::machine);
    const std::size_t data = *mesh.find("data");
    const Axes both = {data, 2};
    const GroupPlace place = group_place(nodes, mesh, along(both), {});
    CHECK(place.topology.network->slices == 8);
    CHECK(count_chips(place.topology) == 64);
    CHECK(place.topology.numbering == Lengths{2, 4, 8});
    CHECK(listed(nodes, mesh.groups_along(both), mesh).topology.numbering == Lengths{2, 4, 8});
    CHECK(group_place(nodes, mesh, along({2}), {}).topology.numbering == Lengths{4, 8});
    CHECK(group_place(nodes, mesh, along({data}), {}).topology.numbering == Lengths{2});
  }
  const steps::Mesh within =
      lay_on(nodes, {axis("data", 16), axis("tensor", 8)}, steps::DeviceOrder::machine);
  CHECK(group_place(nodes, within, along({1}), {}).topology.numbering.empty());
}

TEST_CASE("a sub-slice of a mesh is a mesh") {
  const TopologyConfig mesh = grid({4, 4}, false);
  const steps::Mesh chips = whole({4, 4});
  const GroupPlace half =
      listed(mesh, {{7, 0, 1, 2, 3, 4, 5, 6}, {8, 9, 10, 11, 12, 13, 14, 15}}, chips);
  CHECK(half.has_own_links);
  CHECK(half.topology.shape.lengths == Lengths{2, 4});
  CHECK(half.members[0] == std::vector<topology::ChipId>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("groups of no shape are fully connected, in the order of their lists, and share links") {
  const TopologyConfig mesh = grid({4, 4}, false);
  const GroupPlace odd =
      listed(mesh, {{0, 5, 10, 15}, {4, 9, 14, 3}, {8, 13, 2, 7}, {12, 1, 6, 11}}, whole({4, 4}));
  CHECK_FALSE(odd.has_own_links);
  CHECK(odd.topology.kind == TopologyKind::fully_connected);
  CHECK(odd.members[1] == std::vector<topology::ChipId>{4, 9, 14, 3});
}

TEST_CASE("groups across slices share ports unless they cover the slices or the ports are chips'") {
  TopologyConfig shared = slices(node());  // two chips to a port
  const steps::Mesh mesh =
      lay_on(shared, {{.name = "data", .length = 12}, {.name = "t", .length = 2}},
             steps::DeviceOrder::machine);
  const GroupPlace data = group_place(shared, mesh, along({0}), {});
  CHECK_FALSE(data.has_own_links);
  CHECK(count_chips(data.topology) == 12);
  CHECK(data.topology.network->slices == 3);
  CHECK(group_place(shared, mesh, along({1}), {}).has_own_links);
  CHECK(group_place(shared, mesh, along({0, 1}), {}).has_own_links);
  shared.network->chips_per_port = 1;
  CHECK(group_place(shared, mesh, along({0}), {}).has_own_links);
}

TEST_CASE("with an order of the chips, groups along axes are found on the machine") {
  const TopologyConfig ring = grid({8}, true);
  const steps::Mesh mesh = steps::lay_in_order(
      {8}, {{.name = "a", .length = 2}, {.name = "b", .length = 4}}, {0, 2, 4, 6, 1, 3, 5, 7});
  const GroupPlace odd = group_place(ring, mesh, along({1}), {});
  CHECK(odd.topology.shape.lengths == Lengths{4});
  CHECK(odd.topology.shape.wraparound[0]);
  CHECK(odd.members[1] == std::vector<topology::ChipId>{1, 3, 5, 7});
  CHECK_FALSE(odd.has_own_links);
  CHECK(group_place(ring, mesh, along({0}), {}).has_own_links);
}

}  // namespace
}  // namespace equarx::config::group_topology_test
