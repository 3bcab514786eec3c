#include "models/steps/mesh.hpp"

#include <vector>

#include "models/steps/mesh_layout.hpp"
#include "tests/catch.hpp"

namespace equarx::steps::mesh_test {
namespace {

using Axes = std::vector<std::size_t>;
using Groups = std::vector<std::vector<std::uint32_t>>;

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

TEST_CASE("groups along mesh axes are those of numpy.arange(n).reshape(lengths)") {
  const Mesh mesh = lay_mesh({2, 2, 2}, {{"a", 2}, {"b", 2}, {"c", 2}});
  CHECK(mesh.groups_along(Axes{2}) == Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}});
  CHECK(mesh.groups_along(Axes{0, 2}) == Groups{{0, 1, 4, 5}, {2, 3, 6, 7}});
  CHECK(mesh.groups_along(Axes{}) == Groups{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}});
  CHECK(mesh.groups_along(Axes{0, 1, 2}) == Groups{{0, 1, 2, 3, 4, 5, 6, 7}});
}

TEST_CASE("parts of machine axes keep the numbers of the chips") {
  const Mesh mesh = lay_parts({4, 4}, {{"a", 8}, {"b", 2}}, {{{0, 4}, {1, 2}}, {{1, 2}}});
  CHECK(mesh.machine == std::vector<std::uint32_t>{4, 2, 2});
  CHECK(mesh.whole_axes() == std::vector<std::uint32_t>{4, 4});
  CHECK(mesh.axis_of(2) == 1);
  CHECK(mesh.is_divided());
  for (std::uint32_t number = 0; number < 16; ++number) CHECK(mesh.chip(number) == number);
}

}  // namespace
}  // namespace equarx::steps::mesh_test
