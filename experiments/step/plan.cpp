#include "experiments/step/plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "experiments/config/collective_json.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/step/group.hpp"
#include "experiments/step/machine.hpp"
#include "experiments/step/memory.hpp"
#include "models/workloads/roofline.hpp"
#include "sim/time_executor.hpp"

namespace equarx::step {
namespace {

using steps::Computation;
using steps::HostTransfer;
using steps::Task;

/// Where errors of a step's tasks are.
constexpr const char* kStepPlace = "/step";

// --- Computing

double roofline_s(const workloads::Operation& operation, const workloads::ComputeRates& rates) {
  try {
    return workloads::roofline(operation, rates).seconds;
  } catch (const std::invalid_argument& error) {
    throw input::InputError(
        kStepPlace,
        fmt::format("{}; add \"matrix_rate_{}\" to its hardware, or multiply another type",
                    error.what(), hardware::name(operation.products)));
  }
}

double core_time_s(const Task& task, const workloads::ComputeRates& rates) {
  const auto* work = std::get_if<Computation>(&task.work);
  if (work == nullptr) return 0.0;
  double seconds = work->seconds;
  for (const workloads::Operation& operation : work->operations)
    seconds += roofline_s(operation, rates);
  return seconds;
}

/// An operation whose bytes take of the HBM that DMAs share.
sim::HbmWork with_hbm(workloads::Operation operation, const workloads::ComputeRates& rates) {
  const auto bytes = static_cast<std::uint64_t>(
      std::llround(operation.hbm_bytes() * static_cast<double>(operation.times)));
  operation.weight_bytes = operation.read_bytes = operation.written_bytes = 0.0;
  return {bytes, roofline_s(operation, rates)};
}

double host_rate(const config::StepConfig& config) {
  const double rate = config.machine.chip.host_bandwidth.value;
  if (rate > 0.0) return rate;
  throw input::InputError(
      "/hardware", fmt::format("the step moves bytes to the host, and nobody says how fast {} "
                               "does; add \"host_bandwidth\", like \"15 GB/s\"",
                               config.machine.chip.name));
}

/// What a task takes of core and host; of a collective nothing.
sim::TaskRun run_of(const config::StepConfig& config, steps::TaskId id, double core_s,
                    const workloads::ComputeRates& rates) {
  const Task& task = config.graph.tasks[id];
  sim::TaskRun run{.task = id};
  for (const steps::TaskId before : task.after)
    if (config.graph.tasks[before].stream != task.stream) run.after.push_back(before);
  if (const auto* transfer = std::get_if<HostTransfer>(&task.work))
    run.host_s = transfer->bytes / host_rate(config);
  const auto* work = std::get_if<Computation>(&task.work);
  if (work == nullptr) return run;
  if (config.machine.wire_buffers == collectives::WireBuffers::vmem) {
    run.core_s = core_s;
    return run;
  }
  run.core_s = work->seconds;
  for (const workloads::Operation& operation : work->operations)
    run.with_hbm.push_back(with_hbm(operation, rates));
  return run;
}

// --- Collectives

/// The only way, or that which is fastest alone.
PlannedCall best_of(const plan::PlannedCollective& planned) {
  std::optional<PlannedCall> best;
  for (const plan::CollectivePlan& candidate : planned.candidates) {
    const sim::TimeResult time = sim::simulate(candidate.program, candidate.simulated.machine,
                                               candidate.costs, {.engine = sim::Engine::direct});
    if (!best || time.time_s < best->alone_s)
      best.emplace(PlannedCall{candidate, time.time_s, std::ranges::max(time.core_busy_s)});
  }
  return best.value();
}

// --- Variants

Planner::CallOrNot planned(const config::StepConfig& config, const config::StepCall& of,
                           const config::CollectiveConfig& collective) {
  plan::OrObstacle<plan::Plan> made =
      plan::try_plan(group_experiment(config, of, collective), plan::Look::at_many);
  if (auto* obstacle = std::get_if<plan::Obstacle>(&made)) return std::move(*obstacle);
  return std::make_shared<const PlannedCall>(
      best_of(std::get<plan::Plan>(made).collectives.front()));
}

/// By stream and call: index of the program.
using ProgramOf = std::map<std::pair<steps::StreamId, std::size_t>, std::size_t>;

/// Streams that carry out the same collective have a program each.
std::size_t add_program(steps::StreamId stream, std::size_t call, ProgramOf& program_of,
                        VariantPlan& plan) {
  const auto [known, is_new] =
      program_of.emplace(std::pair{stream, call}, plan.work.programs.size());
  if (is_new) {
    const plan::CollectivePlan& collective = plan.calls[call]->plan;
    plan.work.programs.push_back({&collective.program, &collective.costs});
    plan.call_of_program.push_back(call);
  }
  return known->second;
}

}  // namespace

Planner::Planner(const config::StepConfig& config)
    : step_{config, {}, {}}, rates_(workloads::compute_rates(step_.config.machine.chip)) {
  check_memory(config);
  for (const Task& task : config.graph.tasks) step_.core_s.push_back(core_time_s(task, rates_));
}

const Planner::CallOrNot& Planner::call(std::size_t call,
                                        const config::CollectiveConfig& collective) {
  const config::StepCall& of = step_.config.calls[call];
  const std::string how =
      fmt::format("{} {}", call, config::collective_json(collective, of.call.collective).dump());
  const auto known = calls_.find(how);
  if (known != calls_.end()) return known->second;
  return calls_.emplace(how, planned(step_.config, of, collective)).first->second;
}

VariantPlan Planner::variant(const config::StepVariant& variant) {
  const config::StepConfig& config = step_.config;
  VariantPlan plan;
  for (std::size_t i = 0; i < config.calls.size(); ++i) {
    const CallOrNot& planned = call(i, variant.collectives[i]);
    if (const auto* obstacle = std::get_if<plan::Obstacle>(&planned))
      throw input::InputError("/variants",
                              fmt::format("{}: {}", config.calls[i].group, obstacle->text()));
    plan.calls.push_back(std::get<std::shared_ptr<const PlannedCall>>(planned));
  }
  ProgramOf program_of;
  plan.work.tasks = static_cast<std::uint32_t>(config.graph.tasks.size());
  plan.work.streams.resize(config.graph.streams.size());
  for (steps::TaskId id = 0; id < config.graph.tasks.size(); ++id) {
    const Task& task = config.graph.tasks[id];
    sim::TaskRun run = run_of(config, id, step_.core_s[id], rates_);
    if (const auto call = config::call_of(task, config.calls))
      run.program = add_program(task.stream, *call, program_of, plan);
    plan.work.streams[task.stream].push_back(std::move(run));
  }
  add_machine(config, plan);
  return plan;
}

StepPlan make_plan(const config::StepConfig& config) {
  Planner planner(config);
  StepPlan plan = planner.step();
  for (const config::StepVariant& variant : config.variants)
    plan.variants.push_back(planner.variant(variant));
  return plan;
}

}  // namespace equarx::step
