#include "importers/hlo/chip_count.hpp"

#include "tests/catch.hpp"
#include "tests/importers/hlo/modules.hpp"

namespace equarx::hlo::chip_count_test {
namespace {

const std::string kGlobal = ", channel_id=1, use_global_device_ids=true, replica_groups=";

Module counted(const std::string& collective, const std::string& header = "is_scheduled=true",
               std::optional<std::uint32_t> chips = std::nullopt) {
  Module module = testing::hlo_module(
      "  %p = f32[8] parameter(0)\n  %r = f32[8] " + collective + "\n", "", header);
  set_chip_count(module, chips);
  return module;
}

std::pair<std::uint32_t, std::uint32_t> count(const std::string& collective,
                                              std::optional<std::uint32_t> chips = std::nullopt) {
  const Module module = counted(collective, "is_scheduled=true", chips);
  return {module.replicas, module.partitions};
}

using Count = std::pair<std::uint32_t, std::uint32_t>;  // replicas and partitions

TEST_CASE("the header has the count") {
  const Module module = counted("all-reduce(%p), replica_groups={{0,1}}, to_apply=%add",
                                "replica_count=2, num_partitions=3");
  CHECK(module.devices() == 6);
  CHECK(module.skipped.empty());
  CHECK(chip_count_text(module) == "replica_count 2 x num_partitions 3");
}

TEST_CASE("without it, as many chips as the collectives name") {
  CHECK(count("all-reduce(%p)" + kGlobal + "[1,8]<=[8], to_apply=%add") == Count{1, 8});
  CHECK(count("all-reduce(%p)" + kGlobal + "{{0,1},{2,5}}, to_apply=%add") == Count{1, 6});
  CHECK(count("all-reduce(%p)" + kGlobal + "mesh['x'=4] {'x'}, to_apply=%add") == Count{1, 4});
  CHECK(count("all-reduce(%p), replica_groups={{0,3},{1,2}}, to_apply=%add") == Count{4, 1});
  CHECK(count("collective-permute(%p), channel_id=1, source_target_pairs={{0,1},{1,2}}") ==
        Count{1, 3});
  CHECK(count("negate(%p)") == Count{1, 1});
  const Module noted = counted("all-reduce(%p)" + kGlobal + "[1,8]<=[8], to_apply=%add");
  CHECK(noted.skipped.size() == 1);
  CHECK_THAT(chip_count_text(noted), ContainsSubstring("all-reduce 'r' (line 11) names chip 7"));
}

TEST_CASE("an option has the count of a program without one") {
  CHECK(count("negate(%p)", 16) == Count{16, 1});
  CHECK(count("all-reduce(%p)" + kGlobal + "{{0,1}}, to_apply=%add", 16) == Count{1, 16});
  CHECK(count("all-reduce(%p), replica_groups={}, to_apply=%add", 4) == Count{4, 1});
}

TEST_CASE("contradictions are refused") {
  CHECK_THROWS_WITH(counted("negate(%p)", "num_partitions=16", 8),
                    ContainsSubstring("--chips: the header of the program has replica_count 1 x "
                                      "num_partitions 16, 16 chips, not 8"));
  CHECK_NOTHROW(counted("negate(%p)", "num_partitions=16", 16));
  CHECK_THROWS_WITH(
      count("all-reduce(%p)" + kGlobal + "[1,8]<=[8], to_apply=%add", 4),
      ContainsSubstring("names chip 7, so the program is for at least 8 chips, not 4"));
}

}  // namespace
}  // namespace equarx::hlo::chip_count_test
