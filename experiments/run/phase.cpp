#include "experiments/run/phase.hpp"

#include <algorithm>

#include "sim/symmetry.hpp"

namespace equarx::run {
namespace {

/// Adds `count` repetitions of a part to a whole.
void add_repeated(const sim::TimeResult& part, std::uint32_t count, sim::TimeResult& whole) {
  whole.time_s += count * part.time_s;
  whole.messages += count * part.messages;
  const auto add = [&](auto& sums, const auto& terms) {
    sums.resize(terms.size());
    for (std::size_t i = 0; i < terms.size(); ++i) sums[i] += count * terms[i];
  };
  add(whole.link_bytes, part.link_bytes);
  add(whole.link_busy_s, part.link_busy_s);
  add(whole.core_busy_s, part.core_busy_s);
}

}  // namespace

sim::TimeResult simulate_layers(const plan::CollectivePlan& plan,
                                const plan::WorkloadPlan& workload) {
  const sim::Machine& machine = plan.simulated.machine;
  sim::TimeResult whole;
  for (const plan::LayerKind& kind : workload.layers)
    add_repeated(sim::simulate(plan.program, machine, plan.costs, {.schedule = kind.schedule}),
                 kind.count, whole);
  whole.time_s += workload.outside_layers_s;
  for (double& busy_s : whole.core_busy_s) busy_s += workload.outside_layers_s;
  return whole;
}

double compute_time_s(const plan::WorkloadPlan& workload, const sim::Machine& machine) {
  return workload.compute_s * (machine.slowdown.empty() ? 1.0 : std::ranges::max(machine.slowdown));
}

double phase_bound_s(const plan::CollectivePlan& plan, const plan::WorkloadPlan& workload,
                     double allreduce_bound_s) {
  const sim::Machine& machine = plan.simulated.machine;
  const double compute_s = compute_time_s(workload, machine);
  const double allreduces_s = workload.allreduces * allreduce_bound_s;
  const bool in_step =
      workload.schedule.overlap == 0 && sim::asymmetry(plan.program, machine).empty();
  return in_step ? compute_s + allreduces_s : std::max(compute_s, allreduces_s);
}

}  // namespace equarx::run
