#include "models/steps/mesh.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::steps::mesh_test {
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

TEST_CASE("a mesh that does not fit the machine is rejected with possible lengths") {
  const auto rejected = [](const std::vector<std::uint32_t>& machine,
                           const std::vector<MeshAxis>& axes, const std::string& why) {
    CHECK_THROWS_WITH(lay_mesh(machine, axes), Catch::Contains(why));
  };
  rejected({4, 4}, {{"fsdp", 8}}, "mesh fsdp=8 has 8 chips, but the machine has 16");
  rejected({16, 16}, {{"fsdp", 64}, {"tensor", 4}}, "so its length can be 1, 16, 256");
  rejected({4, 4}, {{"fsdp", 16, {0}}},
           "'fsdp' has length 16, but the machine axes it is mapped to have 4");
  rejected({4, 4}, {{"a", 4, {0}}, {"b", 4, {0}}}, "which another mesh axis uses");
  rejected({4, 4}, {{"a", 16, {0, 1, 7}}}, "axis 7");
}

TEST_CASE("chips are numbered along the mesh axes, in any order of machine axes") {
  const Mesh along = lay_mesh({2, 3, 4}, {{.name = "a", .length = 6}, {.name = "b", .length = 4}});
  for (std::uint32_t number = 0; number < 24; ++number) CHECK(along.chip(number) == number);
  const Mesh turned = lay_mesh({2, 3}, {{.name = "a", .length = 3, .machine_axes = {1}},
                                        {.name = "one", .length = 1},
                                        {.name = "b", .length = 2, .machine_axes = {0}}});
  CHECK(turned.chip(0) == 0);
  CHECK(turned.chip(1) == 3);  // next along "b"
  CHECK(turned.chip(2) == 1);
  CHECK(turned.chip(5) == 5);
}

}  // namespace
}  // namespace equarx::steps::mesh_test
