#include "experiments/run/varied.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "experiments/run/experiment.hpp"
#include "experiments/variation/discrepancy.hpp"
#include "experiments/variation/sensitivity.hpp"
#include "experiments/variation/uncertainty.hpp"

namespace equarx::run {
namespace {

/// Returns SimGrid if any collective of the plan needs it.
sim::Engine slowest_engine(const plan::Plan& plan) {
  const bool all_direct =
      std::ranges::all_of(plan.collectives, [](const plan::PlannedCollective& collective) {
        return collective.candidates.front().engine.engine == sim::Engine::direct;
      });
  return all_direct ? sim::Engine::direct : sim::Engine::simgrid;
}

plan::Plan plan_for_many(const ExperimentResult& result) {
  config::ExperimentConfig config = result.config;
  for (std::size_t i = 0; i < result.runs.size(); ++i)
    config.collectives[i].algorithm = result.runs[i].algorithm;
  config.engine = config::EngineMode::automatic;
  config.numerics = false;
  config.uncertainty = {};
  return plan::make_plan(config, plan::RunProfile::batch);
}

std::vector<variation::Timing> time_on(const plan::Plan& plan,
                                       const config::MachineParameters& machine) {
  const ExperimentResult result =
      run_experiment(plan::on_machine(plan, machine), [](const std::string&) {});
  std::vector<variation::Timing> timings;
  for (const RunResult& run : result.runs) {
    if (!run.speedup) return {};
    timings.push_back({run.time_s, *run.speedup});
  }
  return timings;
}

}  // namespace

bool has_failed(const ExperimentResult& result) {
  return std::ranges::any_of(result.runs,
                             [](const RunResult& run) { return run.failure.has_value(); });
}

variation::Varied varied_runs(const ExperimentResult& result, unsigned threads) {
  const auto plan = std::make_shared<const plan::Plan>(plan_for_many(result));
  return {config::parameters_of(plan->config),
          [plan](const config::MachineParameters& machine) { return time_on(*plan, machine); },
          plan::simulating_threads(slowest_engine(*plan), threads),
          variation::spreads_of(plan->config)};
}

void add_intervals(ExperimentResult& result, const variation::Progress& progress,
                   unsigned threads) {
  if (has_failed(result)) return;
  const std::vector<variation::Uncertainty> all = variation::uncertainties(
      variation::sample(varied_runs(result, threads), result.config.uncertainty, progress));
  for (std::size_t i = 0; i < all.size(); ++i) result.runs[i].uncertainty = all[i];
}

std::vector<variation::Sensitivity> find_sensitivities(const ExperimentResult& result,
                                                       unsigned threads) {
  if (has_failed(result)) return {};
  return variation::sensitivities(varied_runs(result, threads));
}

}  // namespace equarx::run
