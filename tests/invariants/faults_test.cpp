// Slow, fast and failing links and chips: effects on times, and error messages.
#include <algorithm>

#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "experiments/result/json.hpp"
#include "experiments/result/table.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::testing::faults_test {
namespace {

constexpr double kRounding = 1e-9;
constexpr double kTick = 1e-12;  ///< tick of SimGrid's clock, in seconds

/// Rings and tori on 4 x 4 chips, plain and quantized, without values.
input::Json machine() {
  return input::parse_json(R"({
    "hardware": "tpu-v5e", "topology": {"torus": "4x4"}, "tensor": {"bytes": "256 KiB"}, "timed_as": "step",
    "collectives": [{"algorithm": "ring"}, {"algorithm": "equarx", "ring": "semi-loop"},
                    {"algorithm": "torus"}, {"algorithm": "torus", "format": "int8"}],
    "numerics": "off"})");
}

input::Json with_fault(const std::string& kind, const input::Json& fault) {
  input::Json json = machine();
  json["faults"][kind].push_back(fault);
  return json;
}

input::Json link_fault(const std::string& key, const input::Json& value) {
  return with_fault("links", {{"between", {"(0,0)", "(0,1)"}}, {key, value}});
}

input::Json chip_fault(double slowdown) {
  return with_fault("chips", {{"chip", "(1,2)"}, {"slowdown", slowdown}});
}

std::vector<double> times(const input::Json& json) {
  std::vector<double> seconds;
  for (const run::RunResult& one : run(json).runs) seconds.push_back(one.time_s);
  return seconds;
}

TEST_CASE("negligible faults do not change times") {
  const auto healthy = times(machine());
  for (const input::Json& json :
       {link_fault("bandwidth_factor", 0.999999999), link_fault("extra_latency", "0.000001 ps"),
        link_fault("bandwidth_factor", 1.0), link_fault("extra_latency", "0 us"), chip_fault(1.0),
        link_fault("fails_at", "1000 s")}) {
    const run::ExperimentResult result = run(json);
    for (std::size_t i = 0; i < healthy.size(); ++i) {
      CHECK(result.runs[i].time_s == Approx(healthy[i]).epsilon(1e-6));
      CHECK_FALSE(result.runs[i].failure);
    }
  }
}

TEST_CASE("a slower link takes more time, at most by its factor") {
  const auto healthy = times(machine());
  auto before = healthy;
  for (const double factor : {0.8, 0.5, 0.25, 0.1}) {
    const auto now = times(link_fault("bandwidth_factor", factor));
    for (std::size_t i = 0; i < now.size(); ++i) {
      CAPTURE(factor, i);
      CHECK(now[i] >= before[i] * (1.0 - kRounding));
      CHECK(now[i] <= healthy[i] / factor * (1.0 + kRounding));
    }
    before = now;
  }
  for (std::size_t i = 0; i < healthy.size(); ++i) CHECK(before[i] > 2.0 * healthy[i]);
}

TEST_CASE("the breakdown of time uses the link of the lower bound") {
  for (const double factor : {0.1, 0.5, 1.0, 4.0}) {
    CAPTURE(factor);
    for (const run::RunResult& one : run(link_fault("bandwidth_factor", factor)).runs) {
      CAPTURE(one.label);
      CHECK(one.breakdown.payload_s + one.breakdown.scales_s ==
            Approx(one.lower_bound_s).epsilon(kRounding));
    }
  }
}

TEST_CASE("a faster link takes no more time") {
  const auto healthy = times(machine());
  const auto now = times(link_fault("bandwidth_factor", 4));
  for (std::size_t i = 0; i < now.size(); ++i) CHECK(now[i] <= healthy[i] * (1.0 + kRounding));
}

TEST_CASE("extra latency takes more time") {
  auto before = times(machine());
  for (const std::string latency : {"100 ns", "1 us", "10 us", "1 ms"}) {
    const auto now = times(link_fault("extra_latency", latency));
    for (std::size_t i = 0; i < now.size(); ++i) CHECK(now[i] > before[i]);
    before = now;
  }
}

TEST_CASE("a slow chip takes more time, at most by its factor") {
  const auto healthy = times(machine());
  auto before = healthy;
  for (const double slowdown : {2.0, 8.0, 64.0}) {
    const auto now = times(chip_fault(slowdown));
    for (std::size_t i = 0; i < now.size(); ++i) {
      CAPTURE(slowdown, i);
      CHECK(now[i] >= before[i] * (1.0 - kRounding));
      CHECK(now[i] <= slowdown * healthy[i] * (1.0 + kRounding));
    }
    before = now;
  }
  for (std::size_t i = 0; i < healthy.size(); ++i) CHECK(before[i] > 1.5 * healthy[i]);
}

TEST_CASE("a link failure ends the run, and the result names the link") {
  input::Json json = link_fault("fails_at", "3 us");
  const run::ExperimentResult result = run(json);
  for (const run::RunResult& one : result.runs) {
    CAPTURE(one.label);
    REQUIRE(one.failure);
    CHECK(one.failure->time_s >= 3e-6);
    CHECK((one.failure->link == "(0,0)->(0,1)" || one.failure->link == "(0,1)->(0,0)"));
    CHECK(one.failure->link == one.failure->from + "->" + one.failure->to);
    CHECK_THAT(one.failure->transfer, ContainsSubstring("segment"));
    CHECK_FALSE(one.speedup);
    CHECK_FALSE(one.symmetric);
  }
  const input::Json printed = result::to_json(result, {.links = true});
  CHECK_NOTHROW(input::check_schema(printed, "result"));
  CHECK(printed["runs"][0]["time_s"].is_null());
  CHECK(printed["runs"][0]["speedup"].is_null());
  CHECK_THAT(result::to_table(result), ContainsSubstring(" fails ") &&
                                           ContainsSubstring("fails at ") &&
                                           ContainsSubstring("did not arrive, because link (0,"));
  CHECK(result::to_json(run(printed["config"]), {.links = true}).dump() == printed.dump());
}

TEST_CASE("a link that is down from the start is reported by its first user") {
  const run::ExperimentResult result = run(link_fault("fails_at", "0 s"));
  for (const run::RunResult& one : result.runs) {
    REQUIRE(one.failure);
    CHECK(one.failure->time_s < 1e-5);
  }
}

TEST_CASE("a link that fails after the end, or that is unused, has no effect") {
  input::Json json = machine();
  json["simulation"] = "full";
  const run::ExperimentResult healthy = run(json);
  const auto unused = std::ranges::find(healthy.runs[0].links, 0U, &run::LinkUse::bytes);
  REQUIRE(unused != healthy.runs[0].links.end());
  json["faults"]["links"].push_back({{"between", {unused->from, unused->to}}, {"fails_at", "0 s"}});
  json["collectives"].erase(1);
  json["collectives"].erase(1);
  json["collectives"].erase(1);
  const run::ExperimentResult result = run(json);
  CHECK_FALSE(result.runs[0].failure);
  CHECK(result.runs[0].time_s == healthy.runs[0].time_s);
}

TEST_CASE("auto avoids a failing link, if any algorithm can") {
  input::Json json = link_fault("fails_at", "0 s");
  json["topology"] = input::parse_json(R"j({"torus": "4x4", "avoid": [["(0,0)", "(0,1)"]]})j");
  json["collectives"] = {{{"algorithm", "ring"}}, {{"algorithm", "auto"}}};
  for (const run::RunResult& one : run(json).runs) {
    CHECK_FALSE(one.failure);
    for (const run::LinkUse& link : one.links)
      if (link.name == "(0,0)->(0,1)" || link.name == "(0,1)->(0,0)") CHECK(link.bytes == 0);
  }
}

TEST_CASE("auto reports a failure for every candidate, if all fail") {
  input::Json json = machine();
  json["topology"] = {{"ring", 4}};
  json["faults"]["links"] = {{{"between", {"(0)", "(1)"}}, {"fails_at", "0 s"}}};
  json["collectives"] = {{{"algorithm", "auto"}}};
  const run::RunResult one = run(json).runs[0];
  CHECK(one.failure.has_value());
  for (const run::Candidate& candidate : one.candidates)
    CHECK_THAT(candidate.note, ContainsSubstring("fails"));
}

TEST_CASE("both engines time faulty machines alike and report the same failures") {
  for (const input::Json& fault :
       {link_fault("bandwidth_factor", 0.5), link_fault("fails_at", "3 us"), chip_fault(3.0)}) {
    input::Json json = fault;
    json["engine"] = "simgrid";
    const run::ExperimentResult simgrid = run(json);
    json["engine"] = "direct";
    const run::ExperimentResult direct = run(json);
    for (std::size_t i = 0; i < simgrid.runs.size(); ++i) {
      CAPTURE(fault["faults"], simgrid.runs[i].label);
      CHECK(simgrid.runs[i].engine == sim::Engine::simgrid);
      CHECK(direct.runs[i].engine == sim::Engine::direct);
      CHECK(direct.runs[i].engine_reason == "requested");
      CHECK(direct.runs[i].time_s ==
            Approx(simgrid.runs[i].time_s).epsilon(kRounding).margin(kTick));
      CHECK(direct.runs[i].messages == simgrid.runs[i].messages);
      REQUIRE(direct.runs[i].failure.has_value() == simgrid.runs[i].failure.has_value());
      if (direct.runs[i].failure)
        CHECK(direct.runs[i].failure->link == simgrid.runs[i].failure->link);
    }
  }
}

}  // namespace
}  // namespace equarx::testing::faults_test
