#include "base/input/json.hpp"

#include "experiments/sweep/sweep.hpp"
#include "tests/support/json_values.hpp"
#include "tests/support/sweeps.hpp"

namespace equarx::sweep::json_test {
namespace {

using namespace testing;

constexpr const char* kAxes = R"([{"key": "/tensor/bytes", "values": ["1 MiB", "2 MiB"]}])";

void check_refused_sweep(const input::Json& json, const std::string& place,
                         const std::string& remedy) {
  check_refused([&] { sweep_of(json); }, place, remedy);
}

TEST_CASE("a sweep's parts are read") {
  input::Json json = sweep_json(kAxes, R"([{"/tensor/bytes": "2 MiB"}])");
  json["name"] = "sizes";
  const Sweep sweep = sweep_of(json);
  CHECK(sweep.name == "sizes");
  CHECK(sweep.base == good_config());
  REQUIRE(sweep.axes.size() == 1);
  CHECK(sweep.axes[0].keys == std::vector<std::string>{"/tensor/bytes"});
  CHECK(sweep.axes[0].steps == std::vector{boxed({"1 MiB"}), boxed({"2 MiB"})});
  REQUIRE(sweep.exclusions.size() == 1);
  CHECK(sweep.exclusions[0][0].holds == std::vector<bool>{false, true});
}

TEST_CASE("zipped keys step together") {
  const Sweep sweep = sweep_of(sweep_json(R"([{"zip": [
    {"key": "/tensor/bytes", "log_range": {"from": "1 MiB", "to": "4 MiB", "factor": 2}},
    {"key": "/collectives/int8/minishards", "values": [1, 2, 8]}]}])"));
  REQUIRE(sweep.axes.size() == 1);
  CHECK(sweep.axes[0].name() == "/tensor/bytes with /collectives/int8/minishards");
  CHECK(sweep.axes[0].steps ==
        std::vector{boxed({"1 MiB", 1}), boxed({"2 MiB", 2}), boxed({"4 MiB", 8})});
}

TEST_CASE("the path of a base is relative to the sweep, and the default name is that of the file") {
  const TemporaryFolder folder;
  write(folder.path() / "base.json", good_config().dump());
  write(folder.path() / "sizes.json",
        input::Json({{"base", "base.json"}, {"axes", input::parse_json(kAxes)}}).dump());
  const Sweep sweep = load_sweep(folder.path() / "sizes.json");
  CHECK(sweep.name == "sizes");
  CHECK(sweep.base == good_config());
}

TEST_CASE("the examples are valid sweeps") {
  for (const auto& entry : std::filesystem::directory_iterator(EQUARX_CONFIGS_DIR "/sweeps")) {
    CAPTURE(entry.path());
    SweepPoints(load_sweep(entry.path())).check();
  }
}

TEST_CASE("a zipped key may repeat a value if another key differs") {
  const input::Json json = sweep_json(
      R"([{"zip": [{"key": "/a", "values": [1, 2, 2]}, {"key": "/b", "values": [3, 3, 4]}]}])");
  CHECK(read_sweep(json, {}, "a test").axes.front().steps.size() == 3);
}

TEST_CASE("invalid sweeps are refused") {
  const auto axes = [](const std::string& text) { return sweep_json("[" + text + "]"); };
  check_refused_sweep(input::Json::object(), "/base", "is missing");
  check_refused_sweep({{"base", 3}, {"axes", input::Json::array()}}, "/base",
                      "expected a configuration");
  check_refused_sweep({{"base", "none.json"}, {"axes", input::Json::array()}}, "/base",
                      "cannot read");
  check_refused_sweep(axes(""), "/axes", "is empty; give at least one axis");
  check_refused_sweep(axes(R"({"key": "/a", "values": []})"), "/axes/0/values", "has no values");
  check_refused_sweep(axes(R"({"key": "/a", "values": [1, 2, 1]})"), "/axes/0/values/2",
                      "1 is a duplicate");
  check_refused_sweep(
      axes(R"({"zip": [{"key": "/a", "values": [1, 2, 1]}, {"key": "/b", "values": [3, 3, 3]}]})"),
      "/axes/0/zip", "1, 3 is a duplicate, at index 2");
  check_refused_sweep(axes(R"({"key": "/a"})"), "/axes/0",
                      "expected one of values, range, log_range");
  check_refused_sweep(axes(R"({"key": "/a", "values": [1], "range": {}})"), "/axes/0", "has both");
  check_refused_sweep(axes(R"({"key": "a", "values": [1]})"), "/axes/0/key",
                      "is not the JSON pointer");
  check_refused_sweep(axes(R"({"key": "/", "values": [1]})"), "/axes/0/key",
                      "is not the JSON pointer");
  check_refused_sweep(axes(R"({"key": "/a", "value": [1]})"), "/axes/0", "expected one of values");
  check_refused_sweep(axes(R"({"key": "/a", "values": [1], "x": 1})"), "/axes/0/x", "unknown key");
  check_refused_sweep(axes(R"({"key": "/a", "values": [1]}, {"key": "/a", "values": [2]})"),
                      "/axes/1", "/a is already an axis");
  check_refused_sweep(axes(R"({"key": "/a", "values": [1]},
                              {"key": "/b", "range": {"from": 1, "to": 10000000, "step": 1}})"),
                      "/axes/1/range/to", "of which 9999999 are left");
  check_refused_sweep(axes(R"({"zip": []})"), "/axes/0/zip", "is empty; give at least one key");
  check_refused_sweep(
      axes(R"({"zip": [{"key": "/a", "values": [1]}, {"key": "/b", "values": [1, 2]}]})"),
      "/axes/0/zip/1", "/b has 2 values and /a has 1");
  check_refused_sweep(sweep_json(kAxes, R"([{"/tensor/bytes": "3 MiB"}])"), "/exclude/0",
                      "never has the value \"3 MiB\"");
  check_refused_sweep(sweep_json(kAxes, R"([{"/tensor/dtype": "bf16"}])"), "/exclude/0",
                      "is not an axis");
  check_refused_sweep(sweep_json(kAxes, "[{}]"), "/exclude/0",
                      "expected an object with keys of axes");
  input::Json named = sweep_json(kAxes);
  for (const char* name : {"", "..", "a/b", "a\x1b[31m", "a\u009b31m"}) {
    named["name"] = name;
    check_refused_sweep(named, "/name", "cannot name a folder");
  }
}

TEST_CASE("errors name the file") {
  const TemporaryFolder folder;
  write(folder.path() / "bad.json", "{");
  CHECK_THROWS_WITH(load_sweep(folder.path() / "bad.json"),
                    ContainsSubstring("bad.json: not valid JSON"));
}

}  // namespace
}  // namespace equarx::sweep::json_test
