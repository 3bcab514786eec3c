// Results of the repository's configurations, compared with those of the program before workloads
// became steps (results_0_2.json: commit c7153e2, by configuration and label).
// Times are newer where chips were refitted (CHANGELOG.md: program_startup, step_overhead, kernels of GPUs).
#include <algorithm>
#include <filesystem>
#include <string>
#include <variant>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/config/any_config.hpp"
#include "experiments/run/experiment.hpp"
#include "tests/catch.hpp"
#include "tests/support/step_runs.hpp"

namespace equarx::invariants::unchanged_results_test {
namespace {

/// Relative error of sums over the layers of a model, which are added in another order.
constexpr double kRounding = 1e-11;

const auto kSilent = [](const std::string&) {};

void check_times(const input::Json& expected, const config::StepConfig& config) {
  const step::StepResult result = step::run_step(step::make_plan(config), kSilent);
  CHECK(expected.size() == result.runs.size());
  for (const step::VariantResult& variant : result.runs) {
    CAPTURE(variant.label);
    const input::Json& one = expected.at(variant.label);
    CHECK(variant.time_s == Approx(one.at("time_s").get<double>()).epsilon(kRounding));
    if (one.contains("worst_nmse")) CHECK(variant.error->worst_nmse == one.at("worst_nmse"));
    if (one.contains("mse"))
      CHECK(variant.collectives.at(0).run.numerics->against_exact.mse == one.at("mse"));
  }
}

void check_times(const input::Json& expected, const config::ExperimentConfig& config) {
  const run::ExperimentResult result = run::run_experiment(plan::make_plan(config), kSilent);
  CHECK(expected.size() == result.runs.size());
  for (const run::RunResult& run : result.runs) {
    CAPTURE(run.label);
    const input::Json& one = expected.at(run.label);
    if (!run.failure)
      CHECK(run.time_s == Approx(one.at("time_s").get<double>()).epsilon(kRounding));
    if (one.contains("mse")) CHECK(run.numerics->against_exact.mse == one.at("mse"));
  }
}

TEST_CASE("the repository's configurations give the results of version 0.2") {
  const std::filesystem::path root = EQUARX_SOURCE_DIR;
  const input::Json all =
      input::parse_json(input::read_file((root / "tests/invariants/results_0_2.json").string()));
  std::filesystem::current_path(root);  // paths in configurations are relative to it
  for (const auto& [file, expected] : all.items()) {
    CAPTURE(file);
    input::Json json = input::parse_json(input::read_file(file));
    json.erase("uncertainty");
    std::visit([&expected = expected](const auto& config) { check_times(expected, config); },
               config::read(json));
  }
}

}  // namespace
}  // namespace equarx::invariants::unchanged_results_test
