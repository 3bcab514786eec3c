#include "experiments/run/other_chip.hpp"

#include <algorithm>

#include "experiments/process/parallel_for.hpp"
#include "experiments/run/experiment.hpp"

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

}  // namespace

bool has_failed(const ExperimentResult& result) {
  return std::ranges::any_of(result.runs,
                             [](const RunResult& run) { return run.failure.has_value(); });
}

plan::Plan for_other_chips(const ExperimentResult& result) {
  config::ExperimentConfig config = result.config;
  for (std::size_t i = 0; i < result.runs.size(); ++i)
    config.collectives[i].algorithm = result.runs[i].algorithm;
  config.engine = config::EngineMode::automatic;
  config.numerics = false;
  config.uncertainty = {};
  return plan::make_plan(config, plan::RunProfile::batch);
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

void for_each_chip(const plan::Plan& plan, std::size_t count, unsigned threads,
                   const std::function<void(std::size_t)>& work) {
  process::parallel_for(count, plan::simulating_threads(slowest_engine(plan), threads), work);
}

}  // namespace equarx::run
