#include "experiments/study/points.hpp"

#include "base/input/json.hpp"
#include "tests/support/studies.hpp"

namespace equarx::study::points_test {
namespace {

using namespace testing;

/// Two experiments: four points, and one without axes.
input::Json two_experiments() {
  input::Json json = study_json();
  json["experiments"].push_back({{"name", "one"}, {"config", "config.json"}});
  return json;
}

TEST_CASE("points are numbered experiment by experiment, the last axis fastest") {
  const Study study = StudyFolder(two_experiments()).load();
  const StudyPoints points(study);
  REQUIRE(points.size() == 5);
  CHECK(points.experiment(3) == "sizes");
  CHECK(points.experiment(4) == "one");
  CHECK(points.axes(1).dump() == R"({"/tensor/bytes":"64 KiB","/topology/slice":"4x2"})");
  CHECK(points.axes(4).empty());
  CHECK(points.config(3).at("tensor").at("bytes") == "128 KiB");
  CHECK(points.config(4).at("topology").at("slice") == "2x2");
  CHECK(points.axis_keys() == std::vector<std::string>{"/tensor/bytes", "/topology/slice"});
}

TEST_CASE("a point is found by all its axes, in any order") {
  const Study study = StudyFolder(two_experiments()).load();
  const StudyPoints points(study);
  const input::JsonValue small = input::Json("64 KiB");
  const input::JsonValue large = input::Json("4x2");
  CHECK(points.find("sizes", {{"/topology/slice", large}, {"/tensor/bytes", small}}) == 1);
  CHECK(points.find("one", {}) == 4);
  CHECK_FALSE(points.find("sizes", {{"/tensor/bytes", small}}));
  CHECK_FALSE(points.find("sizes", {{"/topology/slice", small}, {"/tensor/bytes", small}}));
  CHECK_FALSE(points.find("one", {{"/tensor/bytes", small}}));
  CHECK_FALSE(points.find("two", {}));
}

TEST_CASE("a point is described by its experiment and its axes") {
  const Study study = StudyFolder(two_experiments()).load();
  const StudyPoints points(study);
  CHECK(points.describe(1) == R"(experiment 'sizes' /tensor/bytes="64 KiB" /topology/slice="4x2")");
  CHECK(points.describe(4) == "experiment 'one'");
}

TEST_CASE("zips, ranges and exclusions work as in a sweep") {
  input::Json json = study_json();
  json["rows"] = input::Json::array();
  json["experiments"][0]["vary"] = input::parse_json(R"([
    {"zip": [{"key": "/tensor/bytes", "log_range": {"from": "64 KiB", "to": "1 MiB", "factor": 4}},
             {"key": "/tensor/values/seed", "values": [1, 2, 3]}]},
    {"key": "/topology/slice", "values": ["2x2", "4x2"]}])");
  json["experiments"][0]["exclude"] = {{{"/tensor/values/seed", 2}, {"/topology/slice", "2x2"}}};
  const Study study = StudyFolder(json).load();
  const StudyPoints points(study);
  REQUIRE(points.size() == 5);
  CHECK(points.axes(2).dump() ==
        R"({"/tensor/bytes":"256 KiB","/tensor/values/seed":2,"/topology/slice":"4x2"})");
}

}  // namespace
}  // namespace equarx::study::points_test
