#include "importers/common/device_axes.hpp"

#include <algorithm>
#include <map>
#include <random>

#include "importers/hlo/device_order.hpp"
#include "tests/catch.hpp"

namespace equarx::imports::device_axes_test {
namespace {

using Lengths = std::vector<std::uint32_t>;

DeviceGroups groups(const char* text) { return hlo::read_groups(text, hlo::kMaxDevices).value(); }

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

TEST_CASE("groups that do not lie along axes change nothing") {
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

TEST_CASE("groups along any axes of any mesh are recognized") {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t bound) {
    return static_cast<std::uint32_t>(random() % bound);
  };
  for (int round = 0; round < 300; ++round) {
    Lengths lengths(1 + below(4));
    std::uint32_t devices = 1;
    for (std::uint32_t& length : lengths) devices *= length = 2 + below(3);
    std::vector<std::size_t> axes;
    for (std::size_t axis = 0; axis < lengths.size(); ++axis)
      if (below(2) == 1) axes.push_back(axis);
    // Groups by the digits of all other axes: chips that differ along `axes` only.
    std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> by_rest;
    for (std::uint32_t device = 0; device < devices; ++device) {
      std::vector<std::uint32_t> rest;
      std::uint32_t left = device;
      for (std::size_t axis = lengths.size(); axis-- > 0; left /= lengths[axis])
        if (std::ranges::find(axes, axis) == axes.end()) rest.push_back(left % lengths[axis]);
      by_rest[rest].push_back(device);
    }
    DeviceGroups made;
    for (auto& [rest, group] : by_rest) {
      std::ranges::shuffle(group, random);
      made.push_back(group);
    }
    CAPTURE(lengths, axes);
    CHECK(DeviceAxes(lengths).axes_of(made) == axes);
    DeviceAxes divided(devices);
    REQUIRE(divided.divide_for(made));
    const auto found = divided.axes_of(made);
    REQUIRE(found);
    std::size_t size = 1;
    for (const std::size_t axis : *found) size *= divided.lengths()[axis];
    CHECK(size == made.front().size());
  }
}

TEST_CASE("groups of one chip lie along no axis") {
  CHECK(DeviceAxes(4).axes_of(groups("[4,1]<=[4]")) == std::vector<std::size_t>{});
  CHECK(DeviceAxes(1).axes_of({{0}}) == std::vector<std::size_t>{});
}

}  // namespace
}  // namespace equarx::imports::device_axes_test
