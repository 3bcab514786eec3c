#include "tools/keys/metrics.hpp"

#include <algorithm>

#include "base/input/json.hpp"
#include "tests/catch.hpp"

namespace equarx::keys::metrics_test {
namespace {

using input::Json;
using result::Empty;
using result::Unit;

const Json kWritten = Json::parse(R"({"type": "object", "required": ["old"], "anyOf": [{}],
    "properties": {"old": {}, "links": {"type": "array", "minItems": 1}}})");

TEST_CASE("metrics replace the properties of an object, and lists keep theirs") {
  const Json schema = metrics_schema(
      {{.key = "time_s", .unit = Unit::time, .meaning = "of `all`", .empty = Empty::null},
       {.key = "core", .unit = Unit::object, .meaning = "a core"},
       {.key = "core/busy_s", .unit = Unit::time, .meaning = "busy"},
       {.key = "mode", .unit = Unit::text, .empty = Empty::absent, .schema = R"({"enum": ["a"]})"},
       {.key = "links", .unit = Unit::list, .empty = Empty::absent}},
      kWritten);
  CHECK(schema["required"] == Json({"time_s", "core"}));
  CHECK(schema["anyOf"] == kWritten["anyOf"]);
  const Json& properties = schema["properties"];
  CHECK(properties.size() == 4);
  CHECK(properties["time_s"].dump() ==
        R"({"description":"of all","type":["number","null"],"minimum":0})");
  CHECK(properties["core"]["required"] == Json({"busy_s"}));
  CHECK(properties["core"]["properties"]["busy_s"]["type"] == "number");
  CHECK(properties["mode"]["enum"] == Json({"a"}));
  CHECK(properties["links"] == kWritten["properties"]["links"]);
}

TEST_CASE("rows have the path below runs, and steps leave out their numerics") {
  const auto has = [](const std::vector<KeyRow>& rows, const std::string& path) {
    return std::ranges::find(rows, path, &KeyRow::path) != rows.end();
  };
  CHECK(has(run_rows(), "runs[].numerics.mse"));
  CHECK_FALSE(has(step_rows(), "runs[].numerics.mse"));
  CHECK(has(step_rows(), "runs[].numerics"));
  CHECK(has(step_rows(), "runs[].messages"));
}

}  // namespace
}  // namespace equarx::keys::metrics_test
