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
    throw input::InputError(kStepPlace, fmt::format("{}; give it by \"hardware\", or multiply "
                                                    "another type",
                                                    error.what()));
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
  const auto bytes = static_cast<std::uint64_t>(std::llround(operation.hbm_bytes()));
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

StepPlan without_variants(const config::StepConfig& config, const workloads::ComputeRates& rates) {
  check_memory(config);
  StepPlan plan{config, {}, {}};
  for (const Task& task : config.graph.tasks) plan.core_s.push_back(core_time_s(task, rates));
  return plan;
}

}  // namespace

class Planner::Implementation {
 public:
  explicit Implementation(const config::StepConfig& config)
      : rates_(workloads::compute_rates(config.machine.chip)),
        step_(without_variants(config, rates_)) {}

  const StepPlan& step() const { return step_; }

  using PlannedOrNot = plan::OrObstacle<std::shared_ptr<const PlannedCall>>;

  /// Made once for all variants that carry it out alike.
  const PlannedOrNot& call(std::size_t call, const config::CollectiveConfig& collective) {
    const config::StepCall& of = config_.calls[call];
    const std::string how =
        fmt::format("{} {}", call, config::collective_json(collective, of.call.collective).dump());
    const auto known = planned_.find(how);
    if (known != planned_.end()) return known->second;
    return planned_.emplace(how, make(of, collective)).first->second;
  }

  VariantPlan variant(const config::StepVariant& variant) {
    VariantPlan plan;
    for (std::size_t call = 0; call < config_.calls.size(); ++call)
      plan.calls.push_back(call_or_throw(call, variant.collectives[call]));
    plan.work.tasks = static_cast<std::uint32_t>(config_.graph.tasks.size());
    plan.work.streams.resize(config_.graph.streams.size());
    for (steps::TaskId id = 0; id < config_.graph.tasks.size(); ++id) {
      const Task& task = config_.graph.tasks[id];
      sim::TaskRun run = run_of(config_, id, step_.core_s[id], rates_);
      if (const auto call = config::call_of(task, config_.calls))
        run.program = program_of(task.stream, *call, plan);
      plan.work.streams[task.stream].push_back(std::move(run));
    }
    programs_.clear();
    add_machine(config_, plan);
    return plan;
  }

 private:
  std::shared_ptr<const PlannedCall> call_or_throw(std::size_t call,
                                                   const config::CollectiveConfig& collective) {
    const PlannedOrNot& planned = this->call(call, collective);
    if (const auto* obstacle = std::get_if<plan::Obstacle>(&planned))
      throw input::InputError("/variants",
                              fmt::format("{}: {}", config_.calls[call].group, obstacle->text()));
    return std::get<std::shared_ptr<const PlannedCall>>(planned);
  }

  PlannedOrNot make(const config::StepCall& of, const config::CollectiveConfig& collective) const {
    plan::OrObstacle<plan::Plan> made =
        plan::try_plan(group_experiment(config_, of, collective), plan::Look::at_many);
    if (auto* obstacle = std::get_if<plan::Obstacle>(&made)) return std::move(*obstacle);
    return std::make_shared<const PlannedCall>(
        best_of(std::get<plan::Plan>(made).collectives.front()));
  }

  /// Streams that carry out the same collective have a program each.
  std::size_t program_of(steps::StreamId stream, std::size_t call, VariantPlan& plan) {
    const auto [known, is_new] =
        programs_.emplace(std::pair{stream, call}, plan.work.programs.size());
    if (is_new) {
      const plan::CollectivePlan& collective = plan.calls[call]->plan;
      plan.work.programs.push_back({&collective.program, &collective.costs});
      plan.call_of_program.push_back(call);
    }
    return known->second;
  }

  workloads::ComputeRates rates_;
  StepPlan step_;
  const config::StepConfig& config_ = step_.config;
  std::map<std::string, PlannedOrNot> planned_;  ///< by call and how it is carried out
  std::map<std::pair<steps::StreamId, std::size_t>, std::size_t> programs_;
};

Planner::Planner(const config::StepConfig& config)
    : implementation_(std::make_unique<Implementation>(config)) {}

Planner::~Planner() = default;

const StepPlan& Planner::step() const { return implementation_->step(); }

plan::OrObstacle<std::shared_ptr<const PlannedCall>> Planner::call(
    std::size_t call, const config::CollectiveConfig& collective) {
  return implementation_->call(call, collective);
}

VariantPlan Planner::variant(const config::StepVariant& variant) {
  return implementation_->variant(variant);
}

StepPlan make_plan(const config::StepConfig& config) {
  Planner planner(config);
  StepPlan plan = planner.step();
  for (const config::StepVariant& variant : config.variants)
    plan.variants.push_back(planner.variant(variant));
  return plan;
}

}  // namespace equarx::step
