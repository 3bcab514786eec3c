#include "experiments/run/experiment.hpp"

#include "base/input/json.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/set_value.hpp"
#include "experiments/result/json.hpp"
#include "models/numerics/errors/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::run::experiment_test {
namespace {

using testing::changed;
using testing::good_config;
using testing::run;

/// A plain fp32 ring on a v5e slice of 4x2.
input::Json fp32_ring(const std::string& bytes) {
  input::Json json = input::parse_json(R"({"hardware": "tpu-v5e", "topology": {"slice": "4x2"},
    "tensor": {"bytes": "", "dtype": "fp32"}, "numerics": "off", "timed_as": "step",
    "collectives": [{"algorithm": "ring", "format": "fp32"}]})");
  json["tensor"]["bytes"] = bytes;
  return json;
}

TEST_CASE("AllReduces match the times measured on v5e") {
  // Measured on v5e 2x4, AllReduce of f32 (repository andreshernandez-spec/shardes-paper).
  CHECK(run(fp32_ring("100 MiB")).runs[0].time_s == Approx(2105.1e-6).epsilon(0.01));
  // 5.70 us, with a standard error of 2 us.
  CHECK(run(fp32_ring("8 B")).runs[0].time_s == Approx(5.70e-6).margin(2.0 * 2e-6));
}

TEST_CASE("every variant of a program starts later than as a step, in both engines") {
  input::Json json = changed("/tensor/bytes", "1 MiB");
  json["numerics"] = "off";
  const double startup_s = config::load_chip("tpu-v5e", "").program_startup.value;
  REQUIRE(startup_s > 1e-6);
  for (const std::string engine : {"simgrid", "direct"}) {
    json["engine"] = engine;
    json["timed_as"] = "step";
    const ExperimentResult step = run(json);
    json["timed_as"] = "program";
    const ExperimentResult program = run(json);
    for (std::size_t i = 0; i < step.runs.size(); ++i) {
      CAPTURE(engine, step.runs[i].label);
      // To SimGrid's tick of 1 ps.
      CHECK(program.runs[i].time_s - step.runs[i].time_s == Approx(startup_s).margin(2e-12));
      CHECK(program.runs[i].breakdown.startup_s - step.runs[i].breakdown.startup_s ==
            Approx(startup_s));
      CHECK(program.runs[i].lower_bound_s == step.runs[i].lower_bound_s);
    }
  }
}

TEST_CASE("a bf16 ring of the same bytes takes the same time") {
  input::Json json = changed("/tensor/bytes", "100 MiB");
  json["numerics"] = "off";
  CHECK(run(json).runs[0].time_s == Approx(2105.1e-6).epsilon(0.01));
}

TEST_CASE("int8 full-loop at 128 elements per scale has the error of theory") {
  // 2^21 elements / 8 ranks / 2 directions = 131072 in one minishard = 128 for each of 1024 scales.
  // NMSE is (N + 1) / 2 of one quantization's, which for amax of 128 normal numbers is about 4.2e-5;
  // the sum's power is 8.
  input::Json json = changed("/tensor/shape", "[2097152]");
  json["collectives"][1]["minishards"] = 1;
  const ExperimentResult result = run(json);
  REQUIRE(result.runs[1].numerics);
  CHECK(result.runs[1].numerics->against_exact.mse == Approx(0.0015).epsilon(0.05));
  CHECK(result.runs[1].numerics->against_exact.count == 2097152);
  CHECK(result.runs[1].numerics->ranks_identical);
  CHECK(result.runs[1].numerics->clipped_fraction() == 0.0);
}

TEST_CASE("two runs of one configuration give the same bytes") {
  const std::string once = result::to_json(run(good_config())).dump(2);
  CHECK(result::to_json(run(good_config())).dump(2) == once);
  CHECK(result::to_json(run(changed("/tensor/values/seed", "2"))).dump(2) != once);
}

TEST_CASE("runs come in the order of the configuration, with the speedup over the baseline") {
  const ExperimentResult result = run(changed("/baseline", "int8"));
  REQUIRE(result.runs.size() == 2);
  CHECK(result.runs[0].label == "bf16");
  CHECK(result.runs[1].label == "int8");
  CHECK(result.runs[1].speedup == 1.0);
  CHECK(result.runs[0].speedup == result.runs[1].time_s / result.runs[0].time_s);
}

TEST_CASE("the baseline has no error against itself, at any position") {
  const ExperimentResult first = run(good_config());
  const ExperimentResult second = run(changed("/baseline", "int8"));
  CHECK(first.runs[0].numerics->against_baseline.value().mse == 0.0);
  CHECK(second.runs[1].numerics->against_baseline.value().mse == 0.0);
  CHECK(first.runs[1].numerics->against_baseline.value().mse > 0.0);
  CHECK(first.runs[1].numerics->against_baseline.value().mse ==
        second.runs[0].numerics->against_baseline.value().mse);
}

TEST_CASE("symmetric simulation is the default where possible, with the times of full simulation") {
  const ExperimentResult full = run(changed("/simulation", "full"));
  const ExperimentResult symmetric = run(good_config());
  for (std::size_t i = 0; i < full.runs.size(); ++i) {
    CHECK(symmetric.runs[i].time_s == Approx(full.runs[i].time_s).epsilon(1e-9));
    CHECK(symmetric.runs[i].lower_bound_s == full.runs[i].lower_bound_s);
    CHECK(symmetric.runs[i].wire_bytes_per_link == full.runs[i].wire_bytes_per_link);
    CHECK(symmetric.runs[i].chips == 8);
    CHECK(symmetric.runs[i].symmetric);
    CHECK_FALSE(full.runs[i].symmetric);
  }
}

TEST_CASE("without numerics there are no errors, and times are the same") {
  const ExperimentResult on = run(good_config());
  const ExperimentResult off = run(changed("/numerics", "off"));
  for (std::size_t i = 0; i < on.runs.size(); ++i) {
    CHECK_FALSE(off.runs[i].numerics);
    CHECK(off.runs[i].time_s == on.runs[i].time_s);
  }
}

TEST_CASE("progress is reported for each part of the work") {
  std::vector<std::string> lines;
  run_experiment(testing::plan_of(good_config()),
                 [&](const std::string& line) { lines.push_back(line); });
  CHECK(lines.size() == 4);
  for (const std::string& line : lines) CHECK(line.find('\n') == std::string::npos);
}

TEST_CASE("no configuration violates a bound or a conservation law") {
  // Odd sizes, odd machines, single elements: run() throws an InvariantError on a violation.
  const std::vector<std::string> topologies = {
      R"({"slice": "2x2"})", R"({"ring": 2})",      R"({"ring": 3})",       R"({"ring": 7})",
      R"({"mesh": "2x3"})",  R"({"torus": "3x3"})", R"({"torus": "2x3x3"})"};
  const std::vector<std::string> shapes = {"[1]", "[17]", "[1031]", "[3, 5, 7, 11]", "[40000]"};
  const std::string collectives = R"([
    {"algorithm": "ring"}, {"label": "fp32 semi", "algorithm": "ring", "format": "fp32", "ring": "semi-loop"},
    {"label": "both", "algorithm": "equarx"},
    {"label": "semi", "algorithm": "equarx", "ring": "semi-loop", "format": "fp8-e4m3"},
    {"label": "rs", "algorithm": "equarx", "quantize": "reduce-scatter", "scale": "bf16"},
    {"label": "ag", "algorithm": "equarx", "quantize": "all-gather", "format": "fp8-e5m2"},
    {"label": "blocks", "algorithm": "equarx", "layout": "contiguous", "block": 32}])";
  for (const std::string& topology : topologies)
    for (const std::string& shape : shapes) {
      CAPTURE(topology, shape);
      input::Json json = changed("/topology", topology);
      config::override_value(json, "/tensor/shape", shape);
      config::override_value(json, "/collectives", collectives);
      json["tensor"]["values"]["distribution"] = "heavy-tailed";
      json.erase("baseline");
      ExperimentResult result;
      REQUIRE_NOTHROW(result = run(json));
      for (const RunResult& one : result.runs) {
        CHECK(one.time_s >= one.lower_bound_s * (1.0 - 1e-9));
        CHECK(one.numerics->ranks_identical);
      }
    }
}

TEST_CASE("times determined by bytes alone keep their bound") {
  input::Json chip = testing::tpu_v5e();
  chip.erase("calibration");  // covers the values changed here
  for (const std::string key :
       {"hop_latency", "instruction_overhead", "dma_overhead", "wait_overhead"}) {
    chip["parameters"][key]["value"] = "0 s";
    chip["parameters"][key].erase("range");  // does not include 0
  }
  const testing::TemporaryFile file(chip.dump());
  const ExperimentResult result = run(changed("/hardware", file.path()));
  for (const RunResult& one : result.runs) CHECK(one.time_s >= one.lower_bound_s * (1.0 - 1e-9));
}

}  // namespace
}  // namespace equarx::run::experiment_test
