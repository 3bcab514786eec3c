#include "importers/hlo/mesh_groups.hpp"

#include "importers/hlo/device_order.hpp"
#include "tests/catch.hpp"

namespace equarx::hlo::mesh_groups_test {
namespace {

TEST_CASE("groups are axes of a mesh, or parts of them") {
  CHECK(read_mesh_groups("mesh['a'=2,'b'=4] {'b'}", 8) == read_groups("[2,4]<=[8]", 8));
  CHECK(read_mesh_groups("mesh['a'=2,'b'=4] {'a'}", 8) == read_groups("[4,2]<=[2,4]T(1,0)", 8));
  CHECK(read_mesh_groups("mesh[a=2,b=4] {a,b}", 8) == DeviceGroups{{0, 1, 2, 3, 4, 5, 6, 7}});
  CHECK(read_mesh_groups("mesh['a'=2,'b'=4] {'b','a'}", 8) ==
        DeviceGroups{{0, 4, 1, 5, 2, 6, 3, 7}});
  CHECK(read_mesh_groups("mesh['a'=1,'b'=4] {'a'}", 8) == DeviceGroups{{0}, {1}, {2}, {3}});
  // The faster half of an axis: neighboring chips.
  CHECK(read_mesh_groups("mesh['x'=8] {'x':(4)2}", 8) == read_groups("[4,2]<=[8]", 8));
  CHECK(read_mesh_groups("mesh['x'=8] {'x':(1)2}", 8) == read_groups("[4,2]<=[2,4]T(1,0)", 8));
  CHECK(read_mesh_groups("mesh['x'=8] {'x':(2)2}", 8) ==
        DeviceGroups{{0, 2}, {1, 3}, {4, 6}, {5, 7}});
  CHECK(read_mesh_groups("mesh['a'=2,'b'=2, device_ids=([2,2]<=[2,2]T(1,0))] {'b'}", 8) ==
        DeviceGroups{{0, 2}, {1, 3}});
  CHECK(read_mesh_groups("mesh['a'=2,'b'=2, device_ids=(3,2,1,0)] {'b'}", 8) ==
        DeviceGroups{{3, 2}, {1, 0}});
}

TEST_CASE("the devices of a mesh may be in another order, in each syntax") {
  const DeviceGroups transposed = {{0, 1}, {2, 3}, {4, 5}, {6, 7}};
  for (const char* text : {"mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)) {'a'}",
                           "mesh['a'=2,'b'=4], device_ids=([2,4]<=[4,2]T(1,0)) {'a'}",
                           "mesh['a'=2,'b'=4, device_ids=([4,2]T(1,0))] {'a'}",
                           "mesh['a'=2,'b'=4], device_ids=(0,2,4,6,1,3,5,7) {'a'}",
                           "@mesh<a=2,b=4>, device_ids=([4,2]T(1,0)) {a}"})
    CHECK(read_groups(text, 8) == transposed);
  CHECK(read_groups("@mesh<a=2,b=4> {b}", 8) == read_groups("[2,4]<=[8]", 8));
}

TEST_CASE("invalid meshes are rejected") {
  for (const char* text :
       {"mesh", "mesh['a'=2", "mesh['a'=2]", "mesh['a'=2] {'b'}", "mesh['a'=2] {'a'",
        "mesh['a'=0] {'a'}", "mesh['a'=8] {'a':(3)2}", "mesh['a'=8] {'a':(4)4}",
        "mesh['a'=2] {'a','a'}", "mesh['a'=33554432] {'a'}", "mesh['a'=2, device_ids=(0)] {'a'}",
        "mesh['a'=2, device_ids=([2]<=[3])] {'a'}", "mesh['a'=2], device_ids=([3]) {'a'}",
        "mesh['a'=2], device_ids=(0,1,2) {'a'}", "mesh['a'=2 {'a'}]", "mesh['a'=4] {'a':(0)2}"})
    CHECK_FALSE(read_mesh_groups(text, kMaxDevices));
}

}  // namespace
}  // namespace equarx::hlo::mesh_groups_test
