#include "experiments/run/other_chip.hpp"

#include <algorithm>

#include "experiments/run/experiment.hpp"

namespace equarx::run {

plan::Plan for_other_chips(const ExperimentResult& result) {
  config::ExperimentConfig config = result.config;
  for (std::size_t i = 0; i < result.runs.size(); ++i)
    config.collectives[i].algorithm = result.runs[i].algorithm;
  config.engine = config::EngineMode::automatic;
  config.numerics = false;
  config.uncertainty = {};
  return plan::make_plan(config, plan::Look::at_many);
}

std::vector<Timing> time_on(const plan::Plan& plan, const hardware::Chip& chip) {
  const ExperimentResult result =
      run_experiment(plan::on_chip(plan, chip), [](const std::string&) {});
  std::vector<Timing> timings;
  for (const RunResult& run : result.runs) {
    if (!run.speedup) return {};
    timings.push_back({run.time_s, *run.speedup});
  }
  return timings;
}

bool can_run_side_by_side(const plan::Plan& plan) {
  return std::ranges::all_of(plan.collectives, [](const plan::PlannedCollective& collective) {
    return collective.candidates.front().engine.engine == sim::Engine::direct;
  });
}

}  // namespace equarx::run
