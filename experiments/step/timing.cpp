#include "experiments/step/timing.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/os/parallel_for.hpp"
#include "experiments/plan/engine.hpp"
#include "experiments/variation/discrepancy.hpp"
#include "models/steps/roles.hpp"
#include "sim/one_stream.hpp"

namespace equarx::step {
namespace {

/// Steps with more messages are simulated without their repetitions: some seconds of computing.
constexpr std::uint64_t kMostMessages = 20'000'000;

sim::Describe task_names(const StepPlan& plan) {
  return [&plan](std::uint32_t, collectives::InstructionId id) {
    return fmt::format("'{}'", plan.config.graph.tasks[id].name);
  };
}

sim::SimulationOptions options_of(const StepPlan& plan, const VariantPlan& variant) {
  return {.engine = engine_of(plan.config), .by_class = variant.by_class};
}

/// The same for a variant with too many messages to simulate all of them.
sim::SimulationOptions with_jumps(sim::SimulationOptions options) {
  options.jumps = true;
  return options;
}

/// Share of the time of a variant in which its collectives are exposed, if it takes `seconds`: the
/// time beyond that of its computations, one after the other.
double exposed_share(const StepPlan& plan, double seconds) {
  const steps::Roles roles(plan.config.graph, plan.config.mesh.chips());
  const double core_s = steps::busiest_s(roles, plan.core_s);
  return std::clamp(1.0 - core_s / seconds, 0.0, 1.0);
}

}  // namespace

sim::Engine engine_of(const config::StepConfig& config) {
  return config.machine.engine == config::EngineMode::simgrid ? sim::Engine::simgrid
                                                              : sim::Engine::direct;
}

unsigned threads_for(const config::StepConfig& config, unsigned most) {
  return plan::simulating_threads(engine_of(config), most);
}

sim::TimeResult simulate(const StepPlan& plan, const VariantPlan& variant) {
  return sim::simulate(variant.work, variant.machine, task_names(plan), options_of(plan, variant));
}

std::optional<sim::RepeatedTime> repeated_time(const StepPlan& plan, const VariantPlan& variant,
                                               const StepTotals& totals) {
  if (plan.config.machine.simulation == config::SimulationMode::full ||
      totals.messages <= kMostMessages)
    return std::nullopt;
  std::optional<sim::RepeatedTime> repeated =
      sim::simulate_repeated(variant.work, variant.machine, with_jumps(options_of(plan, variant)));
  if (!repeated) return repeated;
  sim::TimeResult& time = repeated->time;
  time.messages = totals.messages;
  time.link_bytes = totals.link_bytes;
  // Core time is added up; waits for HBM are counted as far as they were simulated.
  const StepTotals simulated = totals_of(
      sim::without(sim::without(variant.work, repeated->cuts.inner), repeated->cuts.outer),
      variant.machine);
  for (collectives::Rank rank = 0; rank < variant.machine.ranks(); ++rank)
    time.core_busy_s[rank] += totals.core_s[rank] - simulated.core_s[rank];
  return repeated;
}

sim::StepTime find_cuts(const StepPlan& plan, const VariantPlan& variant) {
  if (plan.config.machine.simulation == config::SimulationMode::full)
    return time_of(plan, variant, {});
  if (const auto repeated = repeated_time(plan, variant, totals_of(variant.work, variant.machine)))
    return {repeated->time.time_s, repeated->cuts};
  return sim::find_cuts(variant.work, variant.machine, task_names(plan), options_of(plan, variant));
}

sim::StepTime time_of(const StepPlan& plan, const VariantPlan& variant, const sim::Cuts& cuts) {
  const auto simulate = [&](const VariantPlan& kind) {
    return sim::step_time(kind.work, kind.machine, task_names(plan), options_of(plan, kind), cuts);
  };
  sim::StepTime mean = simulate(variant);
  mean.time_s *= variant.kind.share;
  for (const VariantPlan& other : variant.others)
    mean.time_s += other.kind.share * simulate(other).time_s;
  return mean;
}

std::vector<sim::StepTime> find_cuts(const StepPlan& plan, unsigned threads) {
  const sim::Cuts baseline = find_cuts(plan, plan.variants[plan.config.baseline]).cuts;
  std::vector<sim::StepTime> found(plan.variants.size());
  os::parallel_for(found.size(), threads_for(plan.config, threads), [&](std::size_t i, unsigned) {
    found[i] = time_of(plan, plan.variants[i], baseline);
  });
  return found;
}

variation::Varied varied_variants(const StepPlan& plan, std::vector<sim::StepTime> found,
                                  unsigned threads) {
  std::vector<double> exposed;
  for (std::size_t i = 0; i < plan.variants.size(); ++i)
    exposed.push_back(exposed_share(plan, found[i].time_s));
  const auto time_on = [nominal = std::make_shared<const StepPlan>(plan),
                        found = std::move(found)](const config::MachineParameters& machine) {
    const StepPlan there = on_machine(*nominal, machine);
    std::vector<double> times_s;
    for (std::size_t i = 0; i < there.variants.size(); ++i)
      times_s.push_back(time_of(there, there.variants[i], found[i].cuts).time_s);
    return variation::timings_of(times_s, there.config.baseline);
  };
  return {config::parameters_of(plan.config.machine), time_on, threads_for(plan.config, threads),
          variation::spreads_of(plan.config, exposed)};
}

}  // namespace equarx::step
