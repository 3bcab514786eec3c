#include "experiments/sweep/points.hpp"

#include "base/input/json.hpp"
#include "tests/support/sweeps.hpp"

namespace equarx::sweep::points_test {
namespace {

using namespace testing;

constexpr const char* kTwoAxes = R"([
  {"key": "/topology/slice", "values": ["2x2", "4x2"]},
  {"key": "/tensor/bytes", "values": ["1 MiB", "2 MiB", "4 MiB"]}])";

TEST_CASE("points are all combinations, the last axis fastest") {
  const SweepPoints points = points_of(kTwoAxes);
  REQUIRE(points.size() == 6);
  CHECK(points.axes(1).dump() == R"({"/topology/slice":"2x2","/tensor/bytes":"2 MiB"})");
  CHECK(points.axes(5).dump() == R"({"/topology/slice":"4x2","/tensor/bytes":"4 MiB"})");
  CHECK(points.config(3).at("topology").at("slice") == "4x2");
  CHECK(points.config(3).at("tensor").at("bytes") == "1 MiB");
  CHECK_FALSE(points.config(3).at("tensor").contains("shape"));
}

TEST_CASE("excluded combinations are not among the points") {
  const SweepPoints points =
      points_of(kTwoAxes, R"([{"/topology/slice": "2x2", "/tensor/bytes": "1 MiB"},
                              {"/tensor/bytes": "4 MiB"}])");
  CHECK(points.size() == 3);
  CHECK(points.excluded() == 3);
  CHECK(points.axes(0).dump() == R"({"/topology/slice":"2x2","/tensor/bytes":"2 MiB"})");
  check_refused(
      [] { points_of(kTwoAxes, R"([{"/topology/slice": "2x2"}, {"/topology/slice": "4x2"}])"); },
      "/exclude", "excludes all 6 points");
}

TEST_CASE("shards are disjoint and complete") {
  const SweepPoints points = points_of(kTwoAxes);
  std::vector<std::size_t> all;
  for (std::size_t i = 1; i <= 4; ++i)
    for (const std::size_t point : points.in_shard({i, 4})) all.push_back(point);
  std::ranges::sort(all);
  CHECK(all == std::vector<std::size_t>{0, 1, 2, 3, 4, 5});
  CHECK(points.in_shard({8, 9}).empty());
}

TEST_CASE("sweeps with too many combinations are refused before they take memory") {
  const std::string axis = R"({"key": "/a%", "range": {"from": 1, "to": 1000000, "step": 1}})";
  std::string axes;
  for (const char c : {'0', '1'}) {
    std::string one = axis;
    one.replace(one.find('%'), 1, 1, c);
    axes += (axes.empty() ? "[" : ",") + one;
  }
  check_refused([&] { points_of(axes + "]"); }, "/axes", "make 1e+12 combinations");
}

TEST_CASE("axes that are not keys of configurations are refused") {
  check_sweep_refused(R"([{"key": "/tensor/byte", "values": [1]}])", "/axes/0",
                      "/tensor/byte: unknown key 'byte'");
  check_sweep_refused(
      R"([{"key": "/topology/slice", "values": ["2x2"]}, {"key": "/a/b/c", "values": [1]}])",
      "/axes/1", "/a: unknown key 'a'");
  check_sweep_refused(R"([{"key": "/collectives/fp8/format", "values": ["int8"]}])", "/axes/0",
                      "no element 'fp8'");
  check_sweep_refused(R"([{"key": "/topology/slice/name", "values": ["x"]}])", "/axes/0",
                      "leads into a string");
  check_sweep_refused(R"([{"key": "/hardware/name", "values": ["x"]}])", "/axes/0",
                      "/hardware/name: unknown key 'name'; use one of based_on, links, ");
  input::Json json = sweep_json(kTwoAxes);
  json["base"]["hardwear"] = 1;
  check_refused([&] { SweepPoints(sweep_of(json)).check(); }, "/base", "unknown key 'hardwear'");
}

TEST_CASE("axes that override each other are refused") {
  check_sweep_refused(R"([{"key": "/tensor/bytes", "values": ["1 MiB"]},
                          {"key": "/tensor/shape", "values": [[64, 64]]}])",
                      "/axes/0", "is overridden by a later axis");
  check_sweep_refused(R"([{"key": "/topology/slice", "values": ["2x2"]},
                          {"key": "/topology", "values": [{"torus": "4x4"}]}])",
                      "/axes/0", "is overridden by a later axis");
}

TEST_CASE("some points may be invalid, but not all points with one value") {
  // 2x2x1 is no slice of v5e, and 2x2 no slice of v5p.
  points_of(R"([{"key": "/hardware", "values": ["tpu-v5e", "tpu-v5p"]},
                {"key": "/topology/slice", "values": ["2x2", "2x2x1"]}])")
      .check();
  check_sweep_refused(R"([{"key": "/topology/slice", "values": ["2x2", "4x4"]},
                          {"key": "/tensor/bytes", "values": ["1 MiB", "2 potatoes"]}])",
                      "/axes/1",
                      R"(no point with "2 potatoes" is a valid configuration: /tensor/bytes: )");
  check_sweep_refused(R"([{"zip": [{"key": "/topology/slice", "values": ["2x2", "3x7"]},
                                   {"key": "/collectives/1/minishards", "values": [1, 2]}]}])",
                      "/axes/0",
                      R"(no point with ["3x7",2] is a valid configuration: /topology/slice: )");
}

TEST_CASE("an excluded value is not checked") {
  points_of(R"([{"key": "/topology/slice", "values": ["2x2", "3x7"]}])",
            R"([{"/topology/slice": "3x7"}])")
      .check();
}

TEST_CASE("a sweep without any valid point is refused") {
  try {
    points_of(R"([{"key": "/topology/slice", "values": ["3x7", "5x7"]}])").check();
    FAIL("no InputError was thrown");
  } catch (const input::InputError& error) {
    CHECK_THAT(error.what(), ContainsSubstring("no point of the sweep is a valid configuration"));
    CHECK_THAT(error.what(), ContainsSubstring("3x7"));
  }
}

TEST_CASE("an axis may rename a collective") {
  points_of(R"([{"zip": [{"key": "/collectives/int8/minishards", "values": [1, 2]},
                         {"key": "/collectives/int8/label", "values": ["one", "two"]}]}])")
      .check();
}

}  // namespace
}  // namespace equarx::sweep::points_test
