// Links and chips that are not as the others: what they do to times, and what is said of failures.
#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "experiments/config/json.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/schema.hpp"
#include "experiments/result/json.hpp"
#include "experiments/result/table.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::config {
namespace {

using testing::check_refused;
using testing::plan_of;
using testing::run;

constexpr double kRounding = 1e-9;

/// Rings and tori on 4 x 4 chips, plain and quantized, without values.
input::Json machine() {
  return input::parse_json(R"({
    "hardware": "tpu-v5e", "topology": {"torus": "4x4"}, "tensor": {"bytes": "256 KiB"},
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

TEST_CASE("faults that change next to nothing have the times of none") {
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

TEST_CASE("a slower link takes more time, and at most by its factor") {
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

TEST_CASE("where the time goes is seen from the link of the lower bound") {
  for (const double factor : {0.1, 0.5, 1.0, 4.0}) {
    CAPTURE(factor);
    for (const run::RunResult& one : run(link_fault("bandwidth_factor", factor)).runs) {
      CAPTURE(one.label);
      CHECK(one.breakdown.payload_s + one.breakdown.scales_s ==
            Approx(one.lower_bound_s).epsilon(kRounding));
    }
  }
}

TEST_CASE("a fault that changes nothing is printed so that it can be read again") {
  for (const input::Json& json :
       {link_fault("bandwidth_factor", 1.0), link_fault("extra_latency", "0 us")}) {
    const input::Json printed = result::to_json(read_config(json));
    CHECK(printed["faults"]["links"][0]["bandwidth_factor"] == 1.0);
    CHECK(result::to_json(read_config(printed)) == printed);
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

TEST_CASE("a slow chip takes more time, and at most by its factor") {
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

TEST_CASE("both directions of a cable are changed, and no other link") {
  const plan::Plan plan = plan_of(with_fault(
      "links",
      {{"between", {"(0,1)", "(0,0)"}}, {"bandwidth_factor", 0.5}, {"extra_latency", "1 us"}}));
  const hardware::Chip& chip = plan.config.chip;
  std::size_t changed = 0;
  for (const sim::LinkSpec& link : plan.collectives[0].candidates[0].simulated.machine.links) {
    const bool faulty = link.name == "(0,0)->(0,1)" || link.name == "(0,1)->(0,0)";
    CAPTURE(link.name);
    CHECK(link.rate == chip.link_rate() * (faulty ? 0.5 : 1.0));
    CHECK(link.latency == chip.hop_latency.value + (faulty ? 1e-6 : 0.0));
    changed += faulty ? 1 : 0;
  }
  CHECK(changed == 2);
}

TEST_CASE("a link that fails ends the run, and the result says where") {
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
                                           ContainsSubstring("fails at 3.0") &&
                                           ContainsSubstring("did not arrive, because link (0,"));
  CHECK(result::to_json(run(printed["config"]), {.links = true}).dump() == printed.dump());
}

TEST_CASE("a link that fails from the start is noticed by the first who needs it") {
  const run::ExperimentResult result = run(link_fault("fails_at", "0 s"));
  for (const run::RunResult& one : result.runs) {
    REQUIRE(one.failure);
    CHECK(one.failure->time_s < 1e-5);
  }
}

TEST_CASE("a link that fails after the end, or that nobody needs, ends nothing") {
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

TEST_CASE("auto goes round a link that fails, where an algorithm can") {
  input::Json json = link_fault("fails_at", "0 s");
  json["topology"] = input::parse_json(R"j({"torus": "4x4", "avoid": [["(0,0)", "(0,1)"]]})j");
  json["collectives"] = {{{"algorithm", "ring"}}, {{"algorithm", "auto"}}};
  for (const run::RunResult& one : run(json).runs) {
    CHECK_FALSE(one.failure);
    for (const run::LinkUse& link : one.links)
      if (link.name == "(0,0)->(0,1)" || link.name == "(0,1)->(0,0)") CHECK(link.bytes == 0);
  }
}

TEST_CASE("auto says of every candidate that it fails, where all do") {
  input::Json json = machine();
  json["topology"] = {{"ring", 4}};
  json["faults"]["links"] = {{{"between", {"(0)", "(1)"}}, {"fails_at", "0 s"}}};
  json["collectives"] = {{{"algorithm", "auto"}}};
  const run::RunResult one = run(json).runs[0];
  CHECK(one.failure.has_value());
  for (const run::Candidate& candidate : one.candidates)
    CHECK_THAT(candidate.note, ContainsSubstring("fails"));
}

// --- Monotone

/// A random machine whose every number may be changed by a factor.
struct Draw {
  std::mt19937 generator;
  double factor() { return std::uniform_real_distribution(1.0, 4.0)(generator); }
  template <typename T>
  const T& of(const std::vector<T>& values) {
    return values[std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(generator)];
  }
};

input::Json random_experiment(Draw& draw) {
  const auto topology = draw.of<std::string>(
      {R"({"ring": 5})", R"({"ring": 8})", R"({"torus": "3x4"})", R"({"torus": "2x3x4"})"});
  input::Json json = {
      {"hardware", "tpu-v5e"},
      {"topology", input::parse_json(topology)},
      {"tensor", {{"bytes", fmt::format("{} B", 2 * (1000 + draw.generator() % 200000))}}},
      {"numerics", "off"}};
  for (const std::string ring : {"full-loop", "semi-loop"})
    for (const std::string format : {"bf16", "int8"}) {
      json["collectives"].push_back({{"label", fmt::format("{} {}", ring, format)},
                                     {"algorithm", format == "int8" ? "equarx" : "ring"},
                                     {"ring", ring},
                                     {"format", format},
                                     {"minishards", 1 + draw.generator() % 3},
                                     {"microshards", 1 + draw.generator() % 4}});
      json["collectives"].push_back(json["collectives"].back());
      json["collectives"].back()["algorithm"] = "torus";
      json["collectives"].back()["label"] = fmt::format("torus {} {}", ring, format);
    }
  return json;
}

/// The hardware file of TPU v5e with one parameter multiplied.
input::Json with_parameter(const std::string& key, double factor, const std::string& unit) {
  input::Json chip = testing::tpu_v5e();
  input::Json& value = chip["parameters"][key]["value"];
  const auto text = value.get<std::string>();
  value = fmt::format("{} {}", std::stod(text) * factor, text.substr(text.find(' ') + 1));
  CHECK_THAT(value.get<std::string>(), ContainsSubstring(unit));
  return chip;
}

void check_no_faster(const input::Json& one, const input::Json& slower) {
  CAPTURE(one.dump(), slower.dump());
  const auto before = times(one);
  const auto after = times(slower);
  for (std::size_t i = 0; i < before.size(); ++i) {
    CAPTURE(i);
    CHECK(after[i] >= before[i] * (1.0 - kRounding));
  }
}

TEST_CASE("time grows with bytes, latency and slowness, whatever the machine") {
  constexpr int kMachines = 12;
  Draw draw{std::mt19937(7)};
  for (int i = 0; i < kMachines; ++i) {
    const input::Json json = random_experiment(draw);
    const auto with_chip = [&](const input::Json& chip) {
      const testing::TemporaryFile file(chip.dump());
      input::Json changed = json;
      changed["hardware"] = file.path();
      check_no_faster(json, changed);
    };
    with_chip(with_parameter("hop_latency", draw.factor(), "us"));
    with_chip(with_parameter("link_bandwidth", 1.0 / draw.factor(), "B/s"));
    with_chip(with_parameter("vector_rate", 1.0 / draw.factor(), "/s"));
    with_chip(with_parameter("step_sync_time", draw.factor(), "us"));
    input::Json longer = json;
    const double bytes = std::stod(json["tensor"]["bytes"].get<std::string>());
    longer["tensor"]["bytes"] =
        fmt::format("{} B", 2 * static_cast<std::uint64_t>(bytes / 2.0 * draw.factor()));
    check_no_faster(json, longer);
  }
}

// --- Wrong faults

TEST_CASE("faults that cannot be are refused with their place") {
  const auto refuse = [](const std::string& faults, const std::string& place,
                         const std::string& remedy) {
    input::Json json = machine();
    json["faults"] = input::parse_json(faults);
    CAPTURE(faults);
    check_refused([&] { plan_of(json); }, place, remedy);
  };
  refuse("[]", "/faults", "expected an object");
  refuse(R"({"link": []})", "/faults/link", "did you mean 'links'?");
  refuse(R"({"links": {}})", "/faults/links", "expected an array");
  refuse(R"({"links": [7]})", "/faults/links/0", "expected an object");
  refuse(R"({"links": [{}]})", "/faults/links/0/between", "is missing");
  refuse(R"j({"links": [{"between": ["(0,0)", "(0,1)"]}]})j", "/faults/links/0", "changes nothing");
  refuse(R"j({"links": [{"between": ["(0,0)", "(0,2)"], "fails_at": "1 us"}]})j",
         "/faults/links/0/between", "no cable joins (0,0) and (0,2)");
  refuse(R"j({"links": [{"between": ["(0,0)", "(0,0)"], "fails_at": "1 us"}]})j",
         "/faults/links/0/between", "no cable joins");
  refuse(R"j({"links": [{"between": ["(0,0)", "(9,1)"], "fails_at": "1 us"}]})j",
         "/faults/links/0/between/1", "there is no chip '(9,1)'");
  refuse(R"j({"links": [{"between": ["(0,0)"], "fails_at": "1 us"}]})j", "/faults/links/0/between",
         "the names of two chips");
  const auto refuse_link = [&](const std::string& key, const std::string& value,
                               const std::string& remedy) {
    refuse(
        fmt::format(R"j({{"links": [{{"between": ["(0,0)", "(0,1)"], "{}": {}}}]}})j", key, value),
        "/faults/links/0/" + key, remedy);
  };
  refuse_link("bandwidth_factor", "0", "above 0");
  refuse_link("bandwidth_factor", "-1", "above 0");
  refuse_link("bandwidth_factor", "1e300", "is not a factor from 1e-09 to");
  refuse_link("bandwidth_factor", "1e-10", "is not a factor from 1e-09 to");
  refuse_link("bandwidth_factor", R"("0.5")", "number");
  refuse_link("bandwidth_factor", "null", "number");
  refuse_link("extra_latency", "1", "like");
  refuse_link("extra_latency", R"("1 GB")", "is not a unit of a time");
  refuse_link("extra_latency", R"("-1 us")", "negative");
  refuse_link("fails_at", R"("-1 us")", "negative");
  refuse_link("fails_at", R"("nan s")", "like");
  refuse_link("fail_at", R"("1 us")", "did you mean 'fails_at'?");
  refuse(R"j({"links": [{"between": ["(0,0)", "(0,1)"], "fails_at": "1 us"},
                        {"between": ["(0,1)", "(0,0)"], "bandwidth_factor": 0.5}]})j",
         "/faults/links/1", "repeats /faults/links/0");
  refuse(R"j({"chips": [{"chip": "(0,0)"}]})j", "/faults/chips/0/slowdown", "is missing");
  refuse(R"j({"chips": [{"slowdown": 2}]})j", "/faults/chips/0/chip", "is missing");
  refuse(R"j({"chips": [{"chip": "(4,0)", "slowdown": 2}]})j", "/faults/chips/0/chip",
         "there is no chip '(4,0)'");
  refuse(R"j({"chips": [{"chip": ["(0,0)"], "slowdown": 2}]})j", "/faults/chips/0/chip",
         "expected the name of a chip");
  refuse(R"j({"chips": [{"chip": "(0,0)", "slowdown": 0}]})j", "/faults/chips/0/slowdown",
         "above 0");
  refuse(R"j({"chips": [{"chip": "(0,0)", "slowdown": 2}, {"chip": "(0,0)", "slowdown": 3}]})j",
         "/faults/chips/1", "repeats /faults/chips/0");
}

}  // namespace
}  // namespace equarx::config
