#include "experiments/run/phase.hpp"

#include <algorithm>
#include <initializer_list>

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
  whole.waits.resize(part.waits.size());
  for (std::size_t rank = 0; rank < part.waits.size(); ++rank)
    add_times(part.waits[rank], count, whole.waits[rank]);
}

/// Slowdown of the slowest chip.
double slowdown(const sim::Machine& machine) {
  return machine.slowdown.empty() ? 1.0 : std::ranges::max(machine.slowdown);
}

/// Time of the operations of these kinds on the slowest chip.
double time_of(const plan::WorkloadPlan& workload, const sim::Machine& machine,
               std::initializer_list<workloads::OperationKind> kinds) {
  double time_s = 0.0;
  for (const plan::OperationTotal& operation : workload.operations)
    if (std::ranges::find(kinds, operation.kind) != kinds.end()) time_s += operation.time_s;
  return time_s * slowdown(machine);
}

}  // namespace

sim::TimeResult simulate_layers(const plan::CollectivePlan& plan,
                                const plan::WorkloadPlan& workload) {
  const sim::Machine& machine = plan.simulated.machine;
  sim::TimeResult whole;
  for (const plan::LayerKind& kind : workload.layers)
    add_repeated(sim::simulate(plan.program, machine, plan.costs,
                               {.schedule = kind.schedule, .engine = plan.engine.engine}),
                 kind.count, whole);
  whole.time_s += workload.outside_layers_s;
  for (double& busy_s : whole.core_busy_s) busy_s += workload.outside_layers_s;
  return whole;
}

double compute_time_s(const plan::WorkloadPlan& workload, const sim::Machine& machine) {
  return workload.compute_s * slowdown(machine);
}

PhaseResult report_phase(const plan::CollectivePlan& plan, const plan::WorkloadPlan& workload,
                         double time_s) {
  using workloads::OperationKind;
  const sim::Machine& machine = plan.simulated.machine;
  const double compute_s = compute_time_s(workload, machine);
  return {
      .compute_s = compute_s,
      .matrix_s = time_of(workload, machine, {OperationKind::matrix}),
      .attention_s = time_of(workload, machine, {OperationKind::attention}),
      .elementwise_s = time_of(workload, machine, {OperationKind::vector, OperationKind::memory}),
      .allreduce_s = std::max(0.0, time_s - compute_s),
      .allreduces = workload.allreduces};
}

double phase_bound_s(const plan::CollectivePlan& plan, const plan::WorkloadPlan& workload,
                     double allreduce_bound_s) {
  const sim::Machine& machine = plan.simulated.machine;
  const double compute_s = compute_time_s(workload, machine);
  const double allreduces_s = workload.allreduces * allreduce_bound_s;
  const bool lockstep =
      workload.schedule.overlap == 0 && sim::asymmetry(plan.program, machine).empty();
  return lockstep ? compute_s + allreduces_s : std::max(compute_s, allreduces_s);
}

}  // namespace equarx::run
