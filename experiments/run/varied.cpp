#include "experiments/run/varied.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "experiments/plan/symmetric_timing.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/variation/discrepancy.hpp"

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

/// The collectives of a plan on machines with other parameters.
class Retimed {
 public:
  explicit Retimed(plan::Plan plan) : plan_(std::move(plan)) {
    for (const plan::PlannedCollective& collective : plan_.collectives)
      timings_.push_back(timing_of(collective));
  }

  const plan::Plan& plan() const { return plan_; }

  /// Times by collective, and the speedups over the baseline; empty if one fails.
  std::vector<variation::Timing> on(const config::MachineParameters& machine) const {
    if (std::ranges::find(timings_, nullptr) != timings_.end()) return simulated_on(machine);
    const double startup_s = plan_.config.timed_as == config::TimedAs::program
                                 ? machine.chip.program_startup.value
                                 : 0.0;
    std::vector<double> times_s;
    for (const auto& timing : timings_) times_s.push_back(timing->time_s(machine.chip, startup_s));
    return variation::timings_of(times_s, plan_.config.baseline);
  }

 private:
  /// Null if the plan has to be simulated anew on each machine.
  std::shared_ptr<const plan::SymmetricTiming> timing_of(
      const plan::PlannedCollective& collective) const {
    const plan::CollectivePlan& one = collective.candidates.front();
    const bool is_retimed = collective.candidates.size() == 1 && collective.infeasible.empty() &&
                            one.config.protocol == hardware::Protocol::none &&
                            !one.config.thread_blocks && one.engine.engine == sim::Engine::direct &&
                            plan::has_representatives(one.config.algorithm, plan_.config) &&
                            plan::SymmetricTiming::supports(plan_.config) &&
                            plan::SymmetricTiming::can_be_timed(one.program);
    return is_retimed ? std::make_shared<const plan::SymmetricTiming>(one.program) : nullptr;
  }

  std::vector<variation::Timing> simulated_on(const config::MachineParameters& machine) const {
    const ExperimentResult result =
        run_experiment(plan::on_machine(plan_, machine), [](const std::string&) {}, {.threads = 1});
    std::vector<variation::Timing> timings;
    for (const RunResult& run : result.runs) {
      if (!run.speedup) return {};
      timings.push_back({run.time_s, *run.speedup});
    }
    return timings;
  }

  plan::Plan plan_;
  std::vector<std::shared_ptr<const plan::SymmetricTiming>> timings_;  ///< by collective
};

}  // namespace

variation::Varied varied_runs(const ExperimentResult& result, unsigned threads) {
  const auto retimed = std::make_shared<const Retimed>(plan_for_many(result));
  const plan::Plan& plan = retimed->plan();
  return {config::parameters_of(plan.config),
          [retimed](const config::MachineParameters& machine) { return retimed->on(machine); },
          plan::simulating_threads(slowest_engine(plan), threads),
          variation::spreads_of(plan.config)};
}

}  // namespace equarx::run
