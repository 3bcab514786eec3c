#include "importers/profile/groups.hpp"

#include "tests/catch.hpp"

namespace equarx::profile::groups_test {
namespace {

using Ranks = std::vector<std::uint32_t>;

TEST_CASE("lists of ranks are read, also truncated ones") {
  CHECK(read_ranks("[0, 1, 2]")->ranks == Ranks{0, 1, 2});
  CHECK_FALSE(read_ranks("[0, 1, 2]")->truncated);
  CHECK(read_ranks("[]")->ranks.empty());
  CHECK(read_ranks("[5]")->ranks == Ranks{5});
  CHECK(read_ranks("[0, 8, ...]")->ranks == Ranks{0, 8});
  CHECK(read_ranks("[0, 8, ..., 56]")->truncated);
  for (const char* text : {"", "0, 1", "[0, 1", "[-1]", "[a]", "[0.5]", "[99999999]", "[1,,2]"}) {
    CAPTURE(text);
    CHECK_FALSE(read_ranks(text));
  }
}

TEST_CASE("truncated lists are completed by their stride") {
  CHECK(completed({{3, 1}, false}, 2) == Ranks{3, 1});
  CHECK(completed({{0, 8}, true}, 4) == Ranks{0, 8, 16, 24});
  CHECK(completed({{0, 8, 24}, true}, 4) == Ranks{0, 8, 16, 24});
  CHECK(completed({{0, 8, 25}, true}, 4) == std::nullopt);
  CHECK(completed({{0}, true}, 4) == std::nullopt);
  CHECK(completed({{8, 0}, true}, 4) == std::nullopt);
}

TEST_CASE("groups are tiled by translations that contain the group itself") {
  CHECK(tiled({0, 1}, 4) == imports::DeviceGroups{{0, 1}, {2, 3}});
  CHECK(tiled({1, 5}, 8) == imports::DeviceGroups{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  CHECK(tiled({0, 1, 4, 5}, 8) == imports::DeviceGroups{{0, 1, 4, 5}, {2, 3, 6, 7}});
  CHECK(tiled({0, 1, 2}, 4) == std::nullopt);
  CHECK(tiled({1, 2}, 4) == std::nullopt);  // the translations are 0 and 1, 2 and 3
  CHECK(tiled({0, 9}, 4) == std::nullopt);
  CHECK(tiled({}, 4) == std::nullopt);
}

}  // namespace
}  // namespace equarx::profile::groups_test
