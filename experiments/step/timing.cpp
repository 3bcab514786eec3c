#include "experiments/step/timing.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "experiments/plan/engine.hpp"

namespace equarx::step {
namespace {

sim::Describe task_names(const StepPlan& plan) {
  return [&plan](std::uint32_t, collectives::InstructionId id) {
    return fmt::format("'{}'", plan.config.graph.tasks[id].name);
  };
}

/// Variants of a nominal plan, timed on other machines.
class Variants {
 public:
  explicit Variants(const StepPlan& plan) : nominal_(plan) {}

  std::vector<variation::Timing> time_on(const config::MachineParameters& machine) {
    std::call_once(found_, [this] { prepare(); });
    const StepPlan there = on_machine(nominal_, machine);
    std::vector<variation::Timing> timings;
    for (std::size_t i = 0; i < there.variants.size(); ++i)
      timings.push_back({time_of(there, there.variants[i], cuts_[i]).time_s, 0.0});
    const double baseline_s = timings[there.config.baseline].time_s;
    for (variation::Timing& timing : timings) timing.speedup = baseline_s / timing.time_s;
    return timings;
  }

 private:
  void prepare() {
    const sim::Cuts cuts = find_cuts(nominal_, nominal_.variants[nominal_.config.baseline]).cuts;
    for (const VariantPlan& variant : nominal_.variants)
      cuts_.push_back(time_of(nominal_, variant, cuts).cuts);
  }

  StepPlan nominal_;
  std::once_flag found_;
  std::vector<sim::Cuts> cuts_;  ///< by variant
};

}  // namespace

sim::Engine engine_of(const config::StepConfig& config) {
  return config.machine.engine == config::EngineMode::simgrid ? sim::Engine::simgrid
                                                              : sim::Engine::direct;
}

unsigned threads_for(const config::StepConfig& config, unsigned most) {
  return plan::simulating_threads(engine_of(config), most);
}

sim::TimeResult simulate(const StepPlan& plan, const VariantPlan& variant,
                         const sim::Timelines& timelines) {
  return sim::simulate(timelines, variant.machine, task_names(plan),
                       {.engine = engine_of(plan.config)});
}

sim::StepTime find_cuts(const StepPlan& plan, const VariantPlan& variant) {
  if (plan.config.machine.simulation == config::SimulationMode::full)
    return time_of(plan, variant, {});
  return sim::find_cuts(variant.work, variant.machine, task_names(plan),
                        {.engine = engine_of(plan.config)});
}

sim::StepTime time_of(const StepPlan& plan, const VariantPlan& variant, const sim::Cuts& cuts) {
  return sim::step_time(variant.work, variant.machine, task_names(plan),
                        {.engine = engine_of(plan.config)}, cuts);
}

variation::Varied varied_variants(const StepPlan& plan, unsigned threads) {
  const auto time_on =
      [variants = std::make_shared<Variants>(plan)](const config::MachineParameters& machine) {
        return variants->time_on(machine);
      };
  return {config::parameters_of(plan.config.machine), time_on, threads_for(plan.config, threads)};
}

}  // namespace equarx::step
