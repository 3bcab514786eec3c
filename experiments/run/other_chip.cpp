#include "experiments/run/other_chip.hpp"

#include <algorithm>

#include "experiments/run/experiment.hpp"

namespace equarx::run {

config::ExperimentConfig for_other_chips(const ExperimentResult& result) {
  config::ExperimentConfig config = result.config;
  for (std::size_t i = 0; i < result.runs.size(); ++i)
    config.collectives[i].algorithm = result.runs[i].algorithm;
  config.engine = config::EngineMode::automatic;
  config.numerics = false;
  config.uncertainty = {};
  config.topology.planned = nullptr;  // links are those of the chip
  return config;
}

std::vector<Timing> time_on(config::ExperimentConfig config, const hardware::Chip& chip) {
  config.chip = chip;
  const ExperimentResult result =
      run_experiment(plan::make_plan(config, plan::Look::at_many), [](const std::string&) {});
  std::vector<Timing> timings;
  for (const RunResult& run : result.runs) {
    if (!run.speedup) return {};
    timings.push_back({run.time_s, *run.speedup});
  }
  return timings;
}

bool can_run_side_by_side(const config::ExperimentConfig& config) {
  const plan::Plan plan = plan::make_plan(config, plan::Look::at_many);
  return std::ranges::all_of(plan.collectives, [](const plan::PlannedCollective& collective) {
    return collective.candidates.front().engine.engine == sim::Engine::direct;
  });
}

}  // namespace equarx::run
