#include "experiments/step/isolated.hpp"

#include "experiments/config/step_json.hpp"
#include "experiments/step/plan.hpp"
#include "experiments/step/run.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/steps.hpp"

namespace equarx::step::isolated_test {
namespace {

/// One collective in groups over `axes` of a mesh, or in listed groups.
input::Json step_of(const std::string& topology, const std::string& mesh, const std::string& over) {
  input::Json json = testing::good_step();
  json["topology"] = input::Json::parse(topology);
  json["mesh"] = input::Json::parse(mesh);
  json["step"] = {{"tasks", {{{"name", "sum"}, {"collective", input::Json::parse(over)}}}}};
  json["step"]["tasks"][0]["collective"]["kind"] = "all-reduce";
  json["step"]["tasks"][0]["collective"]["bytes"] = "4 MiB";
  json.erase("variants");
  json.erase("baseline");
  return json;
}

/// Time in isolation, of parts of the machine, and in a step on all of its chips.
struct Times {
  double isolated_s = 0.0;
  double whole_s = 0.0;
};

Times times_of(const input::Json& json) {
  input::Json full = json;
  full["simulation"] = "full";
  const StepPlan plan = make_plan(config::read_step_config(full));
  const StepResult result = run_step(plan, [](const std::string&) {});
  REQUIRE(result.runs[0].simulated_chips == plan.config.mesh.chips());
  return {plan.variants[0].calls[0]->isolated_s, result.runs[0].time_s};
}

TEST_CASE("parts of divided meshes take as long as all chips of the machine") {
  const auto [topology, mesh] =
      GENERATE(std::pair{R"({"mesh": "4x4"})", R"({"a": 8, "b": 2})"},
               std::pair{R"({"torus": "8x4"})", R"({"a": 2, "b": 16})"},
               std::pair{R"({"torus": "4x4x4"})", R"({"a": 8, "b": 8})"},
               std::pair{R"({"ring": 16})", R"({"a": 4, "b": 4})"},
               std::pair{R"({"ring": 16})", R"({"a": 2, "b": 8})"},
               std::pair{R"({"fully-connected": 8, "network": {"slices": 4, "bandwidth": "50 GB/s",
                    "latency": "5 us"}})",
                         R"({"a": 16, "b": 2})"},
               std::pair{R"({"fully-connected": 8, "network": {"slices": 4, "bandwidth": "50 GB/s",
                    "latency": "5 us", "chips_per_port": 8}})",
                         R"({"a": 16, "b": 2})"},
               std::pair{R"({"mesh": "4x2", "network": {"slices": 4, "bandwidth": "50 GB/s",
                    "latency": "5 us", "chips_per_port": 4}})",
                         R"({"a": 8, "b": 2, "c": 2})"});
  const char* const axis = GENERATE("a", "b");
  CAPTURE(topology, mesh, axis);
  const Times times =
      times_of(step_of(topology, mesh, std::string(R"({"axes": [")") + axis + "\"]}"));
  CHECK(times.isolated_s == Approx(times.whole_s).epsilon(1e-9));
}

TEST_CASE("listed groups take as long as the same groups along axes") {
  const std::string wide = R"({"mesh": "4x4"})";
  const Times along = times_of(step_of(wide, R"({"a": 2, "b": 8})", R"({"axes": ["b"]})"));
  // Axis b covers machine axis 0 and pairs of machine axis 1.
  const Times listed = times_of(
      step_of(wide, R"({"chips": 16})",
              R"({"groups": [[0, 1, 4, 5, 8, 9, 12, 13], [2, 3, 6, 7, 10, 11, 14, 15]]})"));
  CHECK(listed.isolated_s == Approx(along.isolated_s).epsilon(1e-9));
  CHECK(listed.whole_s == Approx(along.whole_s).epsilon(1e-9));
}

TEST_CASE("interleaved groups share the links of a ring") {
  const Times one = times_of(step_of(R"({"ring": 4})", R"({"a": 4})", R"({"axes": ["a"]})"));
  const Times two =
      times_of(step_of(R"({"ring": 8})", R"({"a": 4, "b": 2})", R"({"axes": ["a"]})"));
  // Each link carries the messages of both rings; messages cross two links.
  CHECK(two.isolated_s > 1.9 * one.isolated_s);
  CHECK(two.isolated_s < 2.6 * one.isolated_s);
}

}  // namespace
}  // namespace equarx::step::isolated_test
