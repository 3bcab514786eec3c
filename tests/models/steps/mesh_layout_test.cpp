#include "models/steps/mesh_layout.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::steps::mesh_layout_test {
namespace {

using Axes = std::vector<std::size_t>;

TEST_CASE("mesh axes are mapped to whole machine axes") {
  const Mesh one = lay_mesh({4, 4}, {{"fsdp", 16}});
  CHECK(one.axes[0].machine_axes == Axes{0, 1});
  CHECK(one.chips() == 16);

  const Mesh two = lay_mesh({4, 4, 4}, {{"fsdp", 16}, {"tensor", 4}});
  CHECK(two.axes[0].machine_axes == Axes{0, 1});
  CHECK(two.axes[1].machine_axes == Axes{2});
  CHECK(two.find("tensor") == 1);
  CHECK_FALSE(two.find("data"));
  CHECK(two.length("data") == 1);
  CHECK(two.group_size(Axes{0, 1}) == 64);
  CHECK(two.machine_axes(Axes{0, 1}) == Axes{0, 1, 2});

  // The first fit may leave nothing for the next axis; then the search backtracks.
  const Mesh other = lay_mesh({2, 4, 2}, {{"a", 4}, {"b", 4}});
  CHECK(other.axes[0].machine_axes == Axes{0, 2});
  CHECK(other.axes[1].machine_axes == Axes{1});
}

TEST_CASE("axes may have explicit machine axes, and length 1") {
  const Mesh mesh = lay_mesh({4, 4}, {{"data", 4, {1}}, {"fsdp", 4}, {"tensor", 1}});
  CHECK(mesh.axes[0].machine_axes == Axes{1});
  CHECK(mesh.axes[1].machine_axes == Axes{0});
  CHECK(mesh.axes[2].machine_axes.empty());
  CHECK(lay_mesh({1, 8}, {{"fsdp", 8}}).axes[0].machine_axes == Axes{1});
  CHECK(lay_mesh({1}, {{"fsdp", 1}}).axes[0].machine_axes.empty());
}

TEST_CASE("a mesh that does not fit the machine is rejected") {
  const auto rejected = [](const std::vector<std::uint32_t>& machine,
                           const std::vector<MeshAxis>& axes, const std::string& why) {
    CHECK_THROWS_WITH(lay_mesh(machine, axes), Catch::Contains(why));
  };
  rejected({4, 4}, {{"fsdp", 8}}, "mesh fsdp=8 has 8 chips, but the machine has 16");
  rejected({4, 4}, {{"fsdp", 16, {0}}},
           "'fsdp' has length 16, but the machine axes it is mapped to have 4");
  rejected({4, 4}, {{"a", 4, {0}}, {"b", 4, {0}}}, "which another mesh axis uses");
  rejected({4, 4}, {{"a", 16, {0, 1, 7}}}, "axis 7");
}

/// Lengths of the parts of each machine axis, by mesh axis: JAX's assignment matrix.
std::vector<std::vector<std::uint32_t>> assignment(const Mesh& mesh, std::size_t machine_axes) {
  std::vector<std::vector<std::uint32_t>> matrix(machine_axes,
                                                 std::vector<std::uint32_t>(mesh.axes.size(), 1));
  for (std::size_t of = 0; of < mesh.axes.size(); ++of)
    for (const std::size_t part : mesh.axes[of].machine_axes)
      matrix[mesh.axis_of(part)][of] = mesh.machine[part];
  return matrix;
}

std::vector<MeshAxis> axes_of(const std::vector<std::uint32_t>& lengths) {
  std::vector<MeshAxis> axes;
  for (const std::uint32_t length : lengths)
    axes.push_back({.name = "a" + std::to_string(axes.size()), .length = length});
  return axes;
}

TEST_CASE("divided axes are those of JAX's tests of mesh_utils") {
  using Lengths = std::vector<std::uint32_t>;
  using Matrix = std::vector<Lengths>;
  const auto divided = [](const Lengths& machine, const Lengths& mesh) {
    return assignment(lay_mesh(machine, axes_of(mesh)), machine.size());
  };
  // tests/mesh_utils_test.py, test_create_device_mesh_for_nd_torus_split_axes_can_handle_axes_split
  CHECK(divided({4, 4, 4}, {2, 1, 32}) == Matrix{{1, 1, 4}, {1, 1, 4}, {2, 1, 2}});
  CHECK(divided({4, 4, 4}, {8, 8, 1}) == Matrix{{1, 4, 1}, {2, 2, 1}, {4, 1, 1}});
  CHECK(divided({4, 4, 8}, {2, 2, 8, 4}) == Matrix{{1, 1, 1, 4}, {2, 2, 1, 1}, {1, 1, 8, 1}});
  CHECK(divided({4, 4, 8}, {2, 4, 1, 16}) == Matrix{{1, 1, 1, 4}, {1, 1, 1, 4}, {2, 4, 1, 1}});
  CHECK(divided({4, 8, 8}, {1, 128, 2}) == Matrix{{1, 2, 2}, {1, 8, 1}, {1, 8, 1}});
  CHECK(divided({8, 8, 1}, {2, 1, 32, 1}) == Matrix{{1, 1, 8, 1}, {2, 1, 4, 1}, {1, 1, 1, 1}});
}

TEST_CASE("the last mesh axis varies fastest along a divided machine axis") {
  const Mesh mesh = lay_mesh({4, 4}, axes_of({2, 2, 4}));
  // The last axis takes machine axis 0; the others divide axis 1 into pairs of pairs.
  CHECK(mesh.axes[2].machine_axes == Axes{0});
  CHECK(mesh.chip(1) == 4);
  CHECK(mesh.chip(4) == 1);
  CHECK(mesh.chip(8) == 2);
}

TEST_CASE("every mesh with the chips of a machine can be laid, each chip at one position") {
  for (const LayoutRules& rules : {LayoutRules{}, LayoutRules{.has_network = true},
                                   LayoutRules{.has_network = true, .is_grid = false},
                                   LayoutRules{.order = DeviceOrder::machine}})
    for (const std::vector<std::uint32_t>& lengths : {std::vector<std::uint32_t>{96},
                                                      {2, 48},
                                                      {3, 32},
                                                      {32, 3},
                                                      {8, 12},
                                                      {6, 16},
                                                      {2, 3, 16},
                                                      {16, 3, 2},
                                                      {4, 2, 3, 4},
                                                      {1, 96, 1}}) {
      CAPTURE(lengths, static_cast<int>(rules.order), rules.has_network, rules.is_grid);
      const Mesh mesh = lay_mesh({6, 4, 4}, axes_of(lengths), rules);
      REQUIRE(mesh.chips() == 96);
      std::vector<bool> seen(96);
      for (std::uint32_t position = 0; position < 96; ++position) {
        const std::uint32_t chip = mesh.chip(position);
        REQUIRE(chip < 96);
        CHECK_FALSE(seen[chip]);
        seen[chip] = true;
        if (rules.order == DeviceOrder::machine) CHECK(chip == position);
      }
    }
}

TEST_CASE("machine order aligns mesh axes with slices and chips where that is possible") {
  const LayoutRules rules{.order = DeviceOrder::machine, .has_network = true, .is_grid = false};
  const Mesh mesh = lay_mesh({4, 8}, axes_of({16, 2}), rules);
  CHECK(mesh.order.empty());
  CHECK(mesh.machine == std::vector<std::uint32_t>{4, 4, 2});
  CHECK(mesh.axes[0].machine_axes == Axes{0, 1});
  const Mesh crossing = lay_mesh({3, 8}, axes_of({8, 3}), rules);
  CHECK(crossing.order.size() == 24);
}

TEST_CASE("slices go to the slowest mesh axes, as in JAX's create_hybrid_device_mesh") {
  const LayoutRules rules{.has_network = true};
  const Mesh mesh = lay_mesh({8, 4, 4}, axes_of({2, 4, 16}), rules);
  const auto matrix = assignment(mesh, 3);
  CHECK(matrix[0] == std::vector<std::uint32_t>{2, 4, 1});
  CHECK(matrix[1] == std::vector<std::uint32_t>{1, 1, 4});
}

TEST_CASE("parts and orders of the user are checked") {
  CHECK_THROWS_WITH(lay_parts({4, 4}, axes_of({8, 2}), {{{0, 4}, {1, 4}}, {}}),
                    Catch::Contains("'a0' has length 8, but the machine axes"));
  CHECK_THROWS_WITH(lay_parts({4, 4}, axes_of({8, 2}), {{{0, 4}, {1, 2}}, {{0, 2}}}),
                    Catch::Contains("parts of machine axis 0 multiply to 8"));
  CHECK_THROWS_WITH(lay_parts({4, 4}, axes_of({8, 2}), {{{0, 4}, {2, 2}}, {{1, 2}}}),
                    Catch::Contains("axes 0 to 1"));
  CHECK(lay_in_order({2, 2}, axes_of({4}), {3, 1, 0, 2}).chip(0) == 3);
  CHECK_THROWS_WITH(lay_in_order({2, 2}, axes_of({4}), {3, 1, 0}), Catch::Contains("has 3 chips"));
  CHECK_THROWS_WITH(lay_in_order({2, 2}, axes_of({4}), {3, 1, 0, 3}),
                    Catch::Contains("chip 3 twice"));
  CHECK_THROWS_WITH(lay_in_order({2, 2}, axes_of({4}), {3, 1, 0, 4}), Catch::Contains("no chip 4"));
}

}  // namespace
}  // namespace equarx::steps::mesh_layout_test
