#include "models/hlo/device_axes.hpp"

#include "tests/catch.hpp"

namespace equarx::hlo {
namespace {

using Lengths = std::vector<std::uint32_t>;

DeviceGroups groups(const char* text) { return read_groups(text).value(); }

TEST_CASE("groups divide the chips into axes") {
  DeviceAxes axes(16);
  CHECK(axes.divide_for(groups("[2,8]<=[16]")));
  CHECK(axes.lengths() == Lengths{2, 8});
  CHECK(axes.divide_for(groups("[8,2]<=[2,8]T(1,0)")));
  CHECK(axes.lengths() == Lengths{2, 8});
  CHECK(axes.divide_for(groups("[4,4]<=[16]")));
  CHECK(axes.lengths() == Lengths{2, 2, 4});
  CHECK(axes.axes_of(groups("[2,8]<=[16]")) == std::vector<std::size_t>{1, 2});
  CHECK(axes.axes_of(groups("[2,8]<=[2,2,4]T(1,0,2)")) == std::vector<std::size_t>{0, 2});
  CHECK(axes.axes_of(groups("[1,16]<=[16]")) == std::vector<std::size_t>{0, 1, 2});
  CHECK(axes.devices() == 16);
}

TEST_CASE("the order within groups, and of groups, does not matter") {
  DeviceAxes axes(4);
  CHECK(axes.divide_for({{3, 1}, {2, 0}}));
  CHECK(axes.lengths() == Lengths{2, 2});
  CHECK(axes.axes_of({{2, 0}, {1, 3}}) == std::vector<std::size_t>{0});
}

TEST_CASE("groups that are no axes change nothing") {
  DeviceAxes axes(6);
  for (const DeviceGroups& bad :
       {DeviceGroups{{0, 1, 2}, {3, 4}, {5}}, DeviceGroups{{0, 1}, {2, 5}, {3, 4}},
        DeviceGroups{{0, 1}}, DeviceGroups{{1, 2}}, DeviceGroups{{0, 0}, {1, 2}},
        DeviceGroups{{0, 1, 3}, {2, 4, 5}}, DeviceGroups{}}) {
    CHECK_FALSE(axes.divide_for(bad));
    CHECK_FALSE(axes.axes_of(bad));
  }
  CHECK(axes.lengths() == Lengths{6});
  CHECK(axes.divide_for(groups("[2,3]<=[6]")));
  CHECK_FALSE(axes.divide_for(groups("[3,2]<=[6]")));  // 2 does not divide 3
  CHECK(axes.lengths() == Lengths{2, 3});
}

TEST_CASE("groups of one chip are along no axis") {
  CHECK(DeviceAxes(4).axes_of(groups("[4,1]<=[4]")) == std::vector<std::size_t>{});
  CHECK(DeviceAxes(1).axes_of({{0}}) == std::vector<std::size_t>{});
}

}  // namespace
}  // namespace equarx::hlo
