#include "importers/hlo/replica_groups.hpp"

#include "importers/hlo/device_order.hpp"
#include "tests/catch.hpp"
#include "tests/importers/hlo/modules.hpp"

namespace equarx::hlo::replica_groups_test {
namespace {

TEST_CASE("groups are read in each of their syntaxes") {
  CHECK(read_groups("{{0,1},{2,3}}", 8) == DeviceGroups{{0, 1}, {2, 3}});
  CHECK(read_groups("{}", 8) == DeviceGroups{});
  CHECK(read_groups("mesh['a'=2,'b'=4] {'b'}", 8) == read_groups("[2,4]<=[8]", 8));
  CHECK(read_groups("[2,4]<=[8]", 8) == DeviceGroups{{0, 1, 2, 3}, {4, 5, 6, 7}});
  CHECK(read_groups("[4,2]<=[2,4]T(1,0)", 8) == DeviceGroups{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  CHECK(read_groups("[4,2]<=[2,2,2]T(0,2,1)", 8) == DeviceGroups{{0, 2}, {1, 3}, {4, 6}, {5, 7}});
  CHECK(read_groups("[8]<=[8]", 8) == DeviceGroups{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}});
}

TEST_CASE("invalid groups are rejected") {
  for (const char* text :
       {"[2,4]<=[9]", "[2,4]<=[2,4]T(1,1)", "[2,4]<=[2,4]T(0)", "[0,4]<=[0]", "[2,4]", "{0,1", "x",
        "{{16777216}}", "[4194304,8]<=[33554432]", "[2,2,2]<=[8]", "{{0,1}"})
    CHECK_FALSE(read_groups(text, kMaxDevices));
}

TEST_CASE("short texts that denote too many chips are not expanded") {
  for (const char* text : {"[2,5]<=[10]", "[16777216]<=[16777216]", "mesh['a'=3,'b'=3] {'a'}",
                           "mesh['a'=16777216] {'a'}", "{{0,1,2,3,4,5,6,7},{0}}"})
    CHECK_FALSE(read_groups(text, 8));
}

/// Groups of an all-reduce or another opcode with 2 replicas x 4 partitions.
std::optional<DeviceGroups> groups(const std::string& attributes,
                                   const std::string& opcode = "all-reduce") {
  const Module module = testing::hlo_module(
      "  %p = f32[4] parameter(0)\n  %r = f32[4] " + opcode + "(%p)" + attributes + "\n", "",
      "replica_count=2, num_partitions=4");
  return groups_of(testing::instruction_of(module, "r"), module);
}

TEST_CASE("numbers of groups are replicas, partitions or chips") {
  // Without a channel: replicas, for each partition separately.
  CHECK(groups(", replica_groups={{0,1}}") == DeviceGroups{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  CHECK(groups("") == DeviceGroups{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  // With a channel: replicas with all their partitions.
  CHECK(groups(", channel_id=1, replica_groups={{0},{1}}") ==
        DeviceGroups{{0, 1, 2, 3}, {4, 5, 6, 7}});
  // Partitions, for opcodes that only move data.
  CHECK(groups(", channel_id=1, replica_groups={{0,1},{2,3}}", "all-to-all") ==
        DeviceGroups{{0, 1}, {4, 5}, {2, 3}, {6, 7}});
  CHECK(groups(", channel_id=1, replica_groups=[2,4]<=[4,2]T(1,0), use_global_device_ids=true") ==
        DeviceGroups{{0, 2, 4, 6}, {1, 3, 5, 7}});
}

TEST_CASE("groups of nonexistent devices are rejected") {
  CHECK_FALSE(groups(", replica_groups={{0,2}}"));
  CHECK_FALSE(groups(", replica_groups={{0},{1},{0}}"));
  CHECK_FALSE(groups(", channel_id=1, replica_groups={{0,8}}, use_global_device_ids=true"));
}

TEST_CASE("pairs of a permute are source and target") {
  const Module module = testing::hlo_module(
      "  %p = f32[4] parameter(0)\n"
      "  %r = f32[4] collective-permute(%p), channel_id=1, source_target_pairs={{0,1},{1,0}}\n"
      "  %s = f32[4] collective-permute(%p), channel_id=1, source_target_pairs={{0,1,2}}\n");
  CHECK(pairs_of(testing::instruction_of(module, "r"), module) ==
        std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 1}, {1, 0}});
  CHECK_FALSE(pairs_of(testing::instruction_of(module, "s"), module));
}

}  // namespace
}  // namespace equarx::hlo::replica_groups_test
