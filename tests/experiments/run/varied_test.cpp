#include "experiments/run/varied.hpp"

#include <algorithm>

#include "experiments/result/json.hpp"
#include "experiments/result/table.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/variation/uncertainty.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::run::varied_test {
namespace {

using testing::good_config;
using variation::Sensitivity;

/// The good configuration on a chip where only the efficiency of links is uncertain.
config::ExperimentConfig with_uncertain_links(std::uint32_t samples) {
  config::ExperimentConfig config = config::read_config(good_config());
  for (const hardware::ParameterInfo& info : hardware::parameters()) {
    (config.chip.*info.member).range = std::nullopt;
    (config.chip.*info.member).standard_error = std::nullopt;
  }
  config.chip.calibration = std::nullopt;
  config.chip.link_efficiency.value = 0.75;
  config.chip.link_efficiency.range = hardware::ParameterRange{0.5, 1.0};
  config.tensor.shape = {};
  config.tensor.elements = 1 << 24;
  config.numerics = false;
  config.uncertainty.samples = samples;
  return config;
}

ExperimentResult result_of(const config::ExperimentConfig& config, unsigned threads = 0) {
  return run_experiment(plan::make_plan(config, plan::RunProfile::batch), [](const std::string&) {},
                        {.threads = threads});
}

TEST_CASE("an interval covers the central 68 % of the samples") {
  const ExperimentResult result = result_of(with_uncertain_links(400));
  const RunResult& ring = result.runs.front();
  REQUIRE(ring.uncertainty);
  CHECK(ring.uncertainty->samples == 400);
  // The time of a large plain ring is proportional to 1 / efficiency, which is uniform in its range.
  const double fast = ring.time_s * 0.75 / (0.5 + 0.841 * 0.5);
  const double slow = ring.time_s * 0.75 / (0.5 + 0.159 * 0.5);
  CHECK(ring.uncertainty->time_s.low == Approx(fast).epsilon(0.04));
  CHECK(ring.uncertainty->time_s.high == Approx(slow).epsilon(0.04));
  CHECK(ring.uncertainty->speedup.low == 1.0);
  CHECK(ring.uncertainty->speedup.high == 1.0);
  const RunResult& quantized = result.runs.back();
  CHECK(quantized.uncertainty->speedup.low < *quantized.speedup);
  CHECK(quantized.uncertainty->speedup.high > *quantized.speedup);
}

TEST_CASE("intervals depend on the seed, but not on the number of threads") {
  config::ExperimentConfig config = with_uncertain_links(20);
  const variation::Interval one = result_of(config, 1).runs.back().uncertainty->time_s;
  const variation::Interval two = result_of(config, 2).runs.back().uncertainty->time_s;
  CHECK(one.low == two.low);
  CHECK(one.high == two.high);
  config.uncertainty.seed = 2;
  CHECK(result_of(config).runs.back().uncertainty->time_s.low != one.low);
}

TEST_CASE("times on other machines are bit for bit those of whole runs") {
  for (const std::string timed_as : {"program", "step"})
    for (const std::string topology : {R"({"slice": "4x2"})", R"({"mesh": "4x2"})"}) {
      CAPTURE(timed_as, topology);
      input::Json json = good_config();
      json["topology"] = input::parse_json(topology);
      json["timed_as"] = timed_as;
      json["numerics"] = "off";
      const ExperimentResult nominal = testing::run(json);
      const variation::Varied varied = varied_runs(nominal, 1);
      const plan::Plan plan = plan::make_plan(nominal.config, plan::RunProfile::batch);
      const variation::MachineSampler sampler(varied.machine);
      for (std::uint64_t number = 0; number < 5; ++number) {
        const config::MachineParameters machine = sampler.draw(3, number);
        const ExperimentResult whole =
            run_experiment(plan::on_machine(plan, machine), [](const std::string&) {});
        const std::vector<variation::Timing> timings = varied.time_on(machine);
        REQUIRE(timings.size() == whole.runs.size());
        for (std::size_t i = 0; i < timings.size(); ++i) {
          CHECK(timings[i].time_s == whole.runs[i].time_s);
          CHECK(timings[i].speedup == *whole.runs[i].speedup);
        }
      }
    }
}

TEST_CASE("there is no interval without uncertain parameters, or if not requested") {
  config::ExperimentConfig config = with_uncertain_links(20);
  config.chip.link_efficiency.range = std::nullopt;
  CHECK_FALSE(result_of(config).runs.front().uncertainty);
  CHECK_FALSE(result_of(with_uncertain_links(0)).runs.front().uncertainty);
}

TEST_CASE("there is no interval if a collective fails") {
  input::Json json = good_config();
  json["faults"] =
      input::parse_json(R"j({"links": [{"between": ["(0,0)", "(0,1)"], "fails_at": "0 s"}]})j");
  json["uncertainty"] = {{"samples", 10}};
  const ExperimentResult result = testing::run(json);
  CHECK(result.runs.front().failure);
  CHECK_FALSE(result.runs.front().uncertainty);
}

TEST_CASE("a configuration can request intervals, and the result repeats the request") {
  input::Json json = good_config();
  json["uncertainty"] = input::Json::object();
  const config::ExperimentConfig config = config::read_config(json);
  CHECK(config.uncertainty.samples == config::UncertaintyConfig::kDefaultSamples);
  CHECK(to_json(config)["uncertainty"] == input::Json{{"samples", 200}, {"seed", 1}});
  CHECK_FALSE(to_json(config::read_config(good_config())).contains("uncertainty"));
  json["uncertainty"]["samples"] = 3;
  CHECK_THROWS_WITH(config::read_config(json), Catch::StartsWith("/uncertainty/samples: "));
}

/// 32 MiB, whose time is dominated by their bytes.
input::Json large() {
  input::Json json = testing::good_config();
  json["tensor"] = {{"bytes", "32 MiB"}};
  json["numerics"] = "off";
  return json;
}

std::vector<Sensitivity> sensitivities_of(const ExperimentResult& result, unsigned threads) {
  return variation::sensitivities(varied_runs(result, threads));
}

const Sensitivity& of(const std::vector<Sensitivity>& all, const std::string& parameter) {
  const auto found = std::ranges::find(all, parameter, &Sensitivity::parameter);
  REQUIRE(found != all.end());
  return *found;
}

TEST_CASE("the time of a large plain ring depends on bandwidth only") {
  input::Json json = large();
  json["hardware"] = {{"based_on", "tpu-v5e"}, {"step_sync_time", "0.9 us"}};
  const std::vector<Sensitivity> all = sensitivities_of(testing::run(json), 2);
  CHECK(of(all, "link_bandwidth").runs[0].time == Approx(-1.0).margin(0.02));
  CHECK(of(all, "link_efficiency").runs[0].time == Approx(-1.0).margin(0.02));
  CHECK(of(all, "step_sync_time").runs[0].time == 0.0);
  CHECK(of(all, "step_sync_time").runs[1].time > 0.01);
  CHECK(of(all, "matrix_efficiency").runs[1].time == 0.0);
  CHECK(of(all, "link_bandwidth").runs[0].speedup == 0.0);  // the baseline
  // d log(speedup) = d log(baseline's time) - d log(time)
  CHECK(of(all, "step_sync_time").runs[1].speedup ==
        Approx(of(all, "step_sync_time").runs[0].time - of(all, "step_sync_time").runs[1].time));
}

TEST_CASE("sensitivities are sorted by size, without counts and zeros") {
  input::Json json = large();
  const std::vector<Sensitivity> all = sensitivities_of(testing::run(json), 1);
  CHECK(all.front().parameter.starts_with("link_"));
  for (const Sensitivity& one : all) {
    CHECK(one.parameter != "dma_queue");
    CHECK(one.value > 0.0);
    CHECK(one.runs.size() == 2);
  }
}

TEST_CASE("the table names the parameters without effect") {
  ExperimentResult result = testing::run(large());
  result.sensitivities = sensitivities_of(result, 2);
  const std::string table = result::to_table(result);
  CHECK_THAT(table, Catch::Contains("grows by 1 %"));
  CHECK_THAT(table, Catch::Contains("No effect: "));
  CHECK_THAT(table, Catch::Contains("matrix_efficiency"));
}

}  // namespace
}  // namespace equarx::run::varied_test
