#include "experiments/step/activity.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <variant>

#include "experiments/plan/activity.hpp"
#include "models/steps/roles.hpp"

namespace equarx::step {
namespace {

using hardware::Activity;

/// Accesses of VMEM per byte of HBM that an operation reads or writes: on both sides of a unit.
constexpr double kVmemAccesses = 2.0;

void add(const workloads::Operation& operation, const workloads::ComputeRates& rates,
         Activity& activity) {
  const auto times = static_cast<double>(operation.times);
  activity.matrix_ops[static_cast<std::size_t>(operation.products)] += times * operation.unit_ops();
  activity.vector_ops += times * (operation.vector_ops + operation.comparisons);
  activity.hbm_bytes += times * operation.hbm_bytes();
  activity.vmem_bytes += times * kVmemAccesses * operation.hbm_bytes();
  activity.busy_s += workloads::busy_s(operation, rates);
}

/// Activity of a task on each chip that runs it, without collectives and permutes.
Activity task_activity(const steps::Task& task, const workloads::ComputeRates& rates) {
  Activity activity;
  if (const auto* transfer = std::get_if<steps::HostTransfer>(&task.work)) {
    activity.host_bytes = transfer->bytes;
    activity.hbm_bytes = transfer->bytes;
  }
  if (const auto* work = std::get_if<steps::Computation>(&task.work)) {
    activity.busy_s = work->seconds;
    activity.given_s = work->seconds;
    for (const workloads::Operation& operation : work->operations) add(operation, rates, activity);
  }
  return activity;
}

Activity tasks_activity(const config::StepConfig& config) {
  const std::uint32_t chips = config.mesh.chips();
  const steps::Roles roles(config.graph, chips);
  const workloads::ComputeRates rates = workloads::compute_rates(config.machine.chip);
  Activity activity;
  for (steps::TaskId id = 0; id < config.graph.tasks.size(); ++id) {
    const auto set = roles.set_of(id);
    const auto runs =
        set ? static_cast<double>(std::ranges::count(roles.sets()[*set], true)) : chips;
    activity += task_activity(config.graph.tasks[id], rates).scaled(runs);
  }
  return activity;
}

/// By chip of the machine, the number of chips that it stands for, of `chips`.
std::vector<double> weights_of(const VariantPlan& variant, double chips) {
  if (variant.classes) {
    const std::vector<std::uint32_t>& sizes = variant.classes->chips.sizes;
    return {sizes.begin(), sizes.end()};
  }
  return std::vector<double>(variant.machine.ranks(), chips / variant.machine.ranks());
}

/// Vector work of collectives on all chips. `weights`: by simulated chip
Activity programs_activity(const VariantPlan& variant, const std::vector<double>& weights,
                           collectives::WireBuffers buffers) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> in_set;
  for (const std::vector<bool>& set : variant.work.chip_sets) {
    double& sum = in_set.emplace_back();
    for (std::size_t chip = 0; chip < set.size(); ++chip) sum += set[chip] ? weights[chip] : 0.0;
  }
  std::map<std::size_t, double> runs;  // by program: chips that run it, in all tasks
  for (const std::vector<sim::TaskRun>& stream : variant.work.streams)
    for (const sim::TaskRun& run : stream)
      if (run.program && run.part == sim::ProgramPart::all)
        runs[*run.program] += run.chips ? in_set[*run.chips] : all;
  Activity activity;
  for (const auto& [number, chips] : runs) {
    const collectives::Program& program = *variant.work.programs[number].program;
    activity += plan::vector_activity(program, buffers).scaled(chips / program.ranks());
  }
  return activity;
}

/// Traffic of all chips; `chips`: their number.
Activity traffic_of(const VariantPlan& variant, std::vector<std::uint64_t> link_bytes,
                    double chips) {
  if (!variant.classes)
    return plan::traffic_activity(variant.machine, link_bytes)
        .scaled(chips / variant.machine.ranks());
  for (std::size_t link = 0; link < link_bytes.size(); ++link)
    link_bytes[link] *= variant.classes->link_weights[link];
  return plan::traffic_activity(variant.machine, link_bytes);
}

}  // namespace

Activity activity_of(const StepPlan& plan, const VariantPlan& variant, const StepTotals& totals,
                     double time_s) {
  const config::StepConfig& config = plan.config;
  const double chips = config.mesh.chips();
  Activity transfers =
      programs_activity(variant, weights_of(variant, chips), config.machine.wire_buffers);
  transfers += traffic_of(variant, totals.link_bytes, chips);
  Activity activity = tasks_activity(config);
  // Shared HBMs serve the operations as well.
  if (!variant.machine.hbm.empty())
    transfers.hbm_bytes = std::max(0.0, transfers.hbm_bytes - activity.hbm_bytes);
  transfers.busy_s = transfers.hbm_bytes / config.machine.chip.hbm_rate();
  activity += transfers;
  activity.time_s = chips * time_s;
  return activity;
}

}  // namespace equarx::step
