#include "experiments/plan/cut_choice.hpp"

#include <algorithm>
#include <limits>

#include "experiments/plan/programs.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::plan::cut_choice_test {
namespace {

using namespace testing;

/// good_config() with one collective that leaves its tiling open.
input::Json open_config(const std::string& topology, const std::string& algorithm,
                        const std::string& format, const std::string& bytes) {
  input::Json json = good_config();
  json["topology"] = input::parse_json(topology);
  json["tensor"] = {{"bytes", bytes}};
  json["collectives"] = {{{"label", "bf16"}, {"algorithm", algorithm}, {"format", format}}};
  json["numerics"] = "off";
  return json;
}

CutChoice choice_of(const input::Json& json) {
  const config::ExperimentConfig config = config::read_config(json);
  const config::CollectiveConfig& collective = config.collectives.front();
  return choose_cuts(collective, value_or_throw(rank_grid(collective.algorithm, config, "")),
                     config);
}

double time_of(input::Json json, std::uint32_t minishards, std::uint32_t microshards) {
  json["collectives"][0]["minishards"] = minishards;
  json["collectives"][0]["microshards"] = microshards;
  return testing::run(json).runs.front().time_s;
}

TEST_CASE("the chosen tiling is as fast as the fastest of all, run one by one") {
  constexpr double kRelevantGain = 0.002;  // of finer tiling
  for (const std::string format : {"bf16", "int8"})
    for (const std::string bytes : {"24 KiB", "320 KiB", "2 MiB", "5 MiB"}) {
      CAPTURE(format, bytes);
      const input::Json json =
          open_config(R"({"slice": "4x2"})", format == "bf16" ? "ring" : "equarx", format, bytes);
      const run::RunResult chosen = testing::run(json).runs.front();
      double fastest_s = std::numeric_limits<double>::infinity();
      for (const std::uint32_t minishards : {1U, 2U, 3U, 4U})
        for (std::uint32_t microshards = 1; microshards <= 8; ++microshards)
          if (format == "int8" || minishards == 1)
            fastest_s = std::min(fastest_s, time_of(json, minishards, microshards));
      CHECK(chosen.time_s <= fastest_s * (1.0 + kRelevantGain));
      CHECK(chosen.time_s ==
            Approx(time_of(json, chosen.cut.value().minishards, chosen.cut->microshards)));
    }
}

TEST_CASE("no scale group exceeds the size rule") {
  for (const std::string topology : {R"({"slice": "4x2"})", R"({"torus": "4x4"})"})
    for (const std::string bytes : {"64 KiB", "1 MiB", "3 MiB", "24 MiB"}) {
      CAPTURE(topology, bytes);
      input::Json json = open_config(topology, "torus", "int8", bytes);
      const Plan chosen = plan_of(json);
      json["collectives"][0]["cuts"] = "by-size";
      const Plan by_size = plan_of(json);
      const auto& fine = chosen.collectives[0].candidates.front().program.partition;
      const auto& rule = by_size.collectives[0].candidates.front().program.partition;
      REQUIRE(fine.segments() == rule.segments());
      for (std::uint32_t segment = 0; segment < fine.segments(); ++segment)
        for (std::uint32_t uncut = 0; uncut < 2; ++uncut)
          CHECK(fine.cut(segment, uncut).minishards >= rule.cut(segment, uncut).minishards);
    }
}

TEST_CASE("given values stay, and missing ones are chosen") {
  input::Json json = open_config(R"({"slice": "4x2"})", "equarx", "int8", "2 MiB");
  json["collectives"][0]["microshards"] = 3;
  const run::RunResult micro = testing::run(json).runs.front();
  CHECK(micro.cut.value() == collectives::Cut{.minishards = 2, .microshards = 3});
  CHECK(micro.cut_reason != "given");
  json["collectives"][0]["minishards"] = 5;
  const run::RunResult both = testing::run(json).runs.front();
  CHECK(both.cut.value() == collectives::Cut{.minishards = 5, .microshards = 3});
  CHECK(both.cut_reason == "given");
  json["collectives"][0].erase("microshards");
  CHECK(testing::run(json).runs.front().cut.value().minishards == 5U);
}

TEST_CASE("the tiling follows from sizes if requested, and without dedicated rings") {
  input::Json json = open_config(R"({"slice": "4x2"})", "equarx", "int8", "2 MiB");
  json["collectives"][0]["cuts"] = "by-size";
  CHECK(choice_of(json).sizes == collectives::PartSizes{});
  CHECK(choice_of(json).reason == "by size: requested");
  const CutChoice exchange =
      choice_of(open_config(R"({"slice": "4x2"})", "two-shot", "bf16", "2 MiB"));
  CHECK(exchange.sizes == collectives::PartSizes{});
  CHECK_THAT(exchange.reason, ContainsSubstring("dedicated links"));
  // Folded: several pairs of chips share links.
  CHECK(choice_of(open_config(R"({"mesh": "4x4"})", "torus", "bf16", "2 MiB")).sizes ==
        collectives::PartSizes{});
}

TEST_CASE("a program too large to try is tiled by size") {
  input::Json json = open_config(R"({"torus": "16x16"})", "torus", "int8", "4 GiB");
  json["collectives"][0]["elements_per_scale"] = 1;
  const CutChoice choice = choice_of(json);
  CHECK(choice.sizes == collectives::PartSizes{});
  CHECK_THAT(choice.reason, ContainsSubstring("too large to try"));
}

TEST_CASE("the chip's parameters decide: costlier messages mean fewer of them") {
  const input::Json json = open_config(R"({"slice": "4x2"})", "equarx", "int8", "2 MiB");
  input::Json chip = tpu_v5e();
  chip["parameters"]["dma_overhead"]["value"] = "2 us";
  chip["parameters"]["dma_overhead"].erase("range");
  chip.erase("calibration");  // has the parameter's correlations
  const TemporaryFile file(chip.dump());
  input::Json slow = json;
  slow["hardware"] = file.path();
  const auto parts = [](const input::Json& config) {
    const collectives::Cut cut = testing::run(config).runs.front().cut.value();
    return cut.minishards * cut.microshards;
  };
  CHECK(parts(slow) < parts(json));
}

TEST_CASE("the tiling chosen for one chip stays on another") {
  const Plan plan = plan_of(open_config(R"({"slice": "4x2"})", "equarx", "int8", "2 MiB"));
  config::ExperimentConfig other = plan.config;
  other.chip.dma_overhead.value *= 200.0;
  const auto cut_of = [](const Plan& one) {
    return one.collectives[0].candidates.front().program.partition.common_cut().value();
  };
  CHECK(cut_of(make_plan(other)) == cut_of(plan));
  other.collectives[0].sizes = {};
  CHECK(cut_of(make_plan(other)) != cut_of(plan));
}

TEST_CASE("degraded links and chips do not change the tiling") {
  input::Json json = open_config(R"({"torus": "4x4"})", "torus", "int8", "2 MiB");
  const CutChoice healthy = choice_of(json);
  json["faults"]["links"] = {{{"between", {"(0,0)", "(0,1)"}}, {"bandwidth_factor", 0.1}}};
  CHECK(choice_of(json).sizes == healthy.sizes);
}

}  // namespace
}  // namespace equarx::plan::cut_choice_test
