#include "base/input/renamed_keys.hpp"

#include "base/input/json.hpp"
#include "tests/catch.hpp"

namespace equarx::input::renamed_keys_test {
namespace {

TEST_CASE("the last part of a path gets its current name") {
  CHECK(current_name("breakdown/bubbles_s") == "breakdown/idle_s");
  CHECK(current_name("breakdown/overhead_s") == "breakdown/sync_s");
  CHECK(current_name("computing_s") == "compute_s");
  CHECK(current_name("groups/alone_s/alone_s") == "groups/alone_s/isolated_s");
  CHECK(current_name("time_s") == "time_s");
}

TEST_CASE("keys are renamed at every depth and keep their order") {
  Json run = Json::parse(R"({"a": 1, "computing_s": 2, "breakdown": {"bubbles_s": 3, "z": null},
                             "groups": [{"group": "alone_s", "alone_s": 4}], "b": 5})");
  rename_keys(run);
  CHECK(run.dump() == R"({"a":1,"compute_s":2,"breakdown":{"idle_s":3,"z":null},)"
                      R"("groups":[{"group":"alone_s","isolated_s":4}],"b":5})");
}

TEST_CASE("old keys are recognised in a text, unlike values of that name") {
  CHECK(has_renamed_keys(R"({"breakdown":{"overhead_s":0.0}})"));
  CHECK_FALSE(has_renamed_keys(R"({"label":"overhead_s","sync_s":0.0})"));
}

TEST_CASE("notes give the file and the current name") {
  CHECK_THAT(renamed_note("/rows/0/metric", "breakdown/bubbles_s"),
             ContainsSubstring("/rows/0/metric: 'breakdown/bubbles_s' is now 'breakdown/idle_s'"));
  CHECK_THAT(renamed_note("a.json"), ContainsSubstring("a.json: written by version 0.2"));
}

}  // namespace
}  // namespace equarx::input::renamed_keys_test
