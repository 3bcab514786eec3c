#include "experiments/step/plan.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/os/parallel_for.hpp"
#include "experiments/config/collective_json.hpp"
#include "experiments/config/task_index.hpp"
#include "experiments/plan/costs.hpp"
#include "experiments/plan/program_cache.hpp"
#include "experiments/run/choice.hpp"
#include "experiments/run/report_time.hpp"
#include "experiments/step/group.hpp"
#include "experiments/step/isolated.hpp"
#include "experiments/step/machine.hpp"
#include "experiments/step/memory.hpp"
#include "experiments/step/placement.hpp"
#include "models/steps/roles.hpp"
#include "models/workloads/roofline.hpp"
#include "sim/time_executor.hpp"

namespace equarx::step {
namespace {

using steps::Computation;
using steps::HostTransfer;
using steps::Task;

/// JSON pointer for errors of tasks.
constexpr const char* kStepPointer = "/step";

// --- Compute

double roofline_s(const workloads::Operation& operation, const workloads::ComputeRates& rates) {
  try {
    return workloads::roofline(operation, rates).seconds;
  } catch (const std::invalid_argument& error) {
    throw input::InputError(
        kStepPointer, fmt::format("{}; add \"matrix_rate_{}\" to its hardware, or use another type",
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

/// Work of an operation whose HBM accesses contend with DMAs once it has started. In isolation it
/// takes its roofline time or, as bytes are rounded up, slightly longer.
sim::HbmWork with_hbm(const workloads::Operation& operation, const workloads::ComputeRates& rates) {
  const auto times = static_cast<double>(operation.times);
  const auto bytes = static_cast<std::uint64_t>(std::ceil(operation.hbm_bytes() * times));
  const double startup_s = workloads::startup_s(operation, rates) * times;
  return {bytes, std::max(0.0, roofline_s(operation, rates) - startup_s), startup_s};
}

double host_rate(const config::StepConfig& config) {
  const double rate = config.machine.chip.host_bandwidth.value;
  if (rate > 0.0) return rate;
  throw input::InputError(
      "/hardware",
      fmt::format("the step transfers data to or from the host, but the host bandwidth of {} is "
                  "unspecified; add \"host_bandwidth\", like \"15 GB/s\"",
                  config.machine.chip.name));
}

/// Core and host time of a task; none for collectives.
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

/// True if one of the groups of a collective, alone, represents all.
bool has_own_links(const config::StepConfig& config, const steps::CollectiveCall& call) {
  return config::has_own_links(config.machine.topology, config.mesh, call, config.graph.chip_lists);
}

/// One group represents those with links of their own. Others are simulated together.
sim::TimeResult simulate_call(const config::StepConfig& config, const steps::CollectiveCall& call,
                              const plan::CollectivePlan& plan) {
  if (has_own_links(config, call))
    return sim::simulate(plan.program, plan.simulated.machine(), plan.costs,
                         {.engine = sim::Engine::direct, .by_class = plan.simulated.by_class});
  config::ExperimentConfig machine = config.machine;
  machine.chip = plan::chip_of(plan.config, machine.chip);
  machine.topology.planned = nullptr;
  return simulate_isolated(machine, plan.program, plan.costs, place(config, call, plan));
}

/// Report of the isolated run. Contention between groups is only in its time.
run::RunResult report_of(const config::StepConfig& config, const steps::CollectiveCall& call,
                         const plan::CollectivePlan& plan, const sim::TimeResult& time) {
  if (has_own_links(config, call)) return run::report_time(plan, time);
  run::RunResult report;
  report.label = plan.config.label;
  report.algorithm = plan.config.algorithm;
  report.time_s = time.time_s;
  report.chips = plan.program.ranks();
  report.messages = time.messages;
  report.engine = sim::Engine::direct;
  return report;
}

/// Returns the fastest candidate in isolation.
PlannedCall fastest_of(const config::StepConfig& config, const steps::CollectiveCall& call,
                       plan::PlannedCollective planned) {
  const auto simulate = [&](const plan::CollectivePlan& candidate) {
    return simulate_call(config, call, candidate);
  };
  run::Choice choice = run::choose(planned, simulate, [](const std::string&) {});
  if (!choice.time) choice.time = simulate(*choice.plan);
  auto isolated =
      std::make_shared<run::RunResult>(report_of(config, call, *choice.plan, *choice.time));
  isolated->candidates = std::move(choice.candidates);
  const auto chosen = choice.plan - planned.candidates.data();
  return {std::move(planned.candidates[static_cast<std::size_t>(chosen)]), choice.time->time_s,
          std::ranges::max(choice.time->core_busy_s), std::move(isolated)};
}

// --- Variants

Planner::ExpectedCall planned(const config::StepConfig& config, const config::StepCall& of,
                              const config::CollectiveConfig& collective) {
  return plan::try_plan(group_experiment(config, of, collective), plan::RunProfile::batch)
      .map([&](plan::Plan&& plan) {
        return std::make_shared<const PlannedCall>(
            fastest_of(config, of.call, std::move(plan.collectives.front())));
      });
}

PlannedPermute planned(const config::StepConfig& config, const steps::Permute& permute) {
  PlannedPermute made{
      .permute = steps::permute_program(config.graph.chip_lists[permute.pairs].lists,
                                        config.mesh.chips(), permute.bytes),
      .costs = {}};
  made.costs =
      plan::program_costs(made.permute.program, config.machine.chip, config.machine.wire_buffers);
  made.isolated_s = simulate_isolated(config.machine, made.permute.program, made.costs,
                                      place(config, made.permute))
                        .time_s;
  return made;
}

Planner::ExpectedTimes times_of(const Planner::ExpectedCall& planned) {
  return planned.map([](const auto& call) { return CallTimes{call->isolated_s, call->core_s}; });
}

/// Memory of the program and the costs of a plan.
std::uint64_t bytes_of(const plan::CollectivePlan& plan) {
  return plan::bytes_of(plan.program) + (plan.costs.core_s.size() + plan.costs.link_s.size() +
                                         plan.costs.hbm_bytes.size() + plan.costs.least_s.size()) *
                                            sizeof(double);
}

/// The first collective that is planned alike: of the same kind, size, type and groups, without
/// values of its own.
std::size_t first_equal(const config::StepConfig& config, std::size_t call) {
  const auto has_values = [&](std::size_t one) {
    return one < config.values.size() && config.values[one].has_value();
  };
  for (std::size_t one = 0; one < call && !has_values(call); ++one)
    if (!has_values(one) && config.calls[one].call == config.calls[call].call) return one;
  return call;
}

/// The plan of a collective on a machine with other parameters.
std::shared_ptr<const PlannedCall> on_machine(const config::StepConfig& config,
                                              const config::StepCall& of,
                                              const PlannedCall& planned,
                                              const config::MachineParameters& machine) {
  plan::Plan one{group_experiment(config, of, planned.plan.config), {{{planned.plan}, {}}}};
  plan::Plan there = plan::on_machine(std::move(one), machine);
  return std::make_shared<const PlannedCall>(
      PlannedCall{std::move(there.collectives.front().candidates.front()), planned.isolated_s,
                  planned.core_s, planned.isolated});
}

std::shared_ptr<const PlannedPermute> on_machine(const config::StepConfig& config,
                                                 PlannedPermute planned) {
  planned.costs = plan::program_costs(planned.permute.program, config.machine.chip,
                                      config.machine.wire_buffers);
  return std::make_shared<const PlannedPermute>(std::move(planned));
}

/// A program of a variant, and the part of it that a task runs.
struct ProgramOfTask {
  std::size_t program = 0;
  sim::ProgramPart part = sim::ProgramPart::all;
};

/// Streams that send and that await the messages of a permute that does not wait.
struct MessageStreams {
  std::size_t permute = 0;  ///< of the configuration
  steps::StreamId from = 0;
  steps::StreamId to = 0;
  auto operator<=>(const MessageStreams&) const = default;
};

/// Permutes that do not wait, by their streams, unless these send and await messages in different
/// orders.
std::map<steps::TaskId, MessageStreams> ordered_messages(const config::StepConfig& config,
                                                         const config::TaskIndex& index) {
  struct Order {
    std::vector<steps::TaskId> sent;
    std::vector<steps::TaskId> awaited;
  };
  const std::vector<Task>& tasks = config.graph.tasks;
  std::map<MessageStreams, Order> orders;
  std::map<steps::TaskId, MessageStreams> streams;
  for (steps::TaskId id = 0; id < tasks.size(); ++id)
    if (const auto* receive = std::get_if<steps::Receive>(&tasks[id].work)) {
      const Task& permute = tasks[receive->permute];
      const MessageStreams one{*index.permute_of(permute), permute.stream, tasks[id].stream};
      orders[one].awaited.push_back(receive->permute);
      streams.emplace(receive->permute, one);
    }
  for (const auto& [permute, one] : streams) orders[one].sent.push_back(permute);
  std::erase_if(streams, [&](const auto& entry) {
    const Order& order = orders[entry.second];
    return order.sent != order.awaited;
  });
  return streams;
}

/// Programs of a variant. Each stream has its own instance of a program, and each pair of streams that
/// sends and awaits messages in one order; so has any other permute that does not wait. No other task
/// may take its messages.
class Programs {
 public:
  Programs(const config::StepConfig& config, VariantPlan& plan)
      : config_(config), plan_(plan), index_(config), messages_(ordered_messages(config, index_)) {}

  /// Returns the program of a task; std::nullopt if it sends nothing, or is skipped.
  std::optional<ProgramOfTask> of(steps::TaskId id) {
    const Task& task = config_.graph.tasks[id];
    if (const auto call = index_.call_of(task)) {
      if (plan_.kind.skips(*call)) return std::nullopt;
      const plan::CollectivePlan& collective = plan_.calls[*call]->plan;
      return {{add({task.stream, {}, {}}, plan_.calls[*call].get(), {.call = call},
                   {&collective.program, &collective.costs})}};
    }
    if (const auto* permute = std::get_if<steps::Permute>(&task.work)) {
      if (!permute->waits) return {{add_permute(owner_of(id), task), sim::ProgramPart::sends}};
      return {{add_permute({task.stream, {}, {}}, task)}};
    }
    if (const auto* receive = std::get_if<steps::Receive>(&task.work))
      return {{add_permute(owner_of(receive->permute), config_.graph.tasks[receive->permute]),
               sim::ProgramPart::waits}};
    return std::nullopt;
  }

 private:
  /// Stream, permute or streams with an instance of their own.
  struct Owner {
    std::optional<steps::StreamId> stream;
    std::optional<steps::TaskId> task;
    std::optional<MessageStreams> messages;
    friend bool operator<(const Owner& a, const Owner& b) {
      return std::tie(a.stream, a.task, a.messages) < std::tie(b.stream, b.task, b.messages);
    }
  };

  /// `permute`: one that does not wait
  Owner owner_of(steps::TaskId permute) const {
    const auto found = messages_.find(permute);
    if (found == messages_.end()) return {{}, permute, {}};
    return {{}, {}, found->second};
  }

  std::size_t add_permute(const Owner& owner, const Task& task) {
    const std::size_t permute = *index_.permute_of(task);
    const PlannedPermute& planned = *plan_.permutes[permute];
    return add(owner, &planned, {.call = {}, .permute = permute},
               {&planned.permute.program, &planned.costs});
  }

  /// `planned`: of the program; equal collectives share it.
  std::size_t add(const Owner& owner, const void* planned, const ProgramUse& use,
                  const sim::PlacedProgram& program) {
    const auto [known, is_new] =
        known_.emplace(std::pair{owner, planned}, plan_.work.programs.size());
    if (is_new) {
      plan_.work.programs.push_back(program);
      plan_.uses.push_back(use);
    }
    return known->second;
  }

  const config::StepConfig& config_;
  VariantPlan& plan_;
  config::TaskIndex index_;
  std::map<steps::TaskId, MessageStreams> messages_;
  std::map<std::pair<Owner, const void*>, std::size_t> known_;
};

/// Sets programs and streams. Requires the calls and permutes of the variant. `core_s`: by task
void add_work(const config::StepConfig& config, const std::vector<double>& core_s,
              const workloads::ComputeRates& rates, VariantPlan& plan) {
  Programs programs(config, plan);
  const steps::Roles roles(config.graph, config.mesh.chips());
  for (const std::vector<bool>& set : roles.sets()) {
    std::vector<bool>& on_machine = plan.work.chip_sets.emplace_back(set.size());
    for (std::uint32_t number = 0; number < set.size(); ++number)
      on_machine[config.mesh.chip(number)] = set[number];
  }
  plan.work.tasks = static_cast<std::uint32_t>(config.graph.tasks.size());
  plan.work.streams.resize(config.graph.streams.size());
  for (steps::TaskId id = 0; id < config.graph.tasks.size(); ++id) {
    const Task& task = config.graph.tasks[id];
    sim::TaskRun run = run_of(config, id, core_s[id], rates);
    run.chips = roles.set_of(id);
    if (const auto program = programs.of(id)) {
      run.program = program->program;
      run.part = program->part;
    }
    plan.work.streams[task.stream].push_back(std::move(run));
  }
}

}  // namespace

Planner::Planner(config::StepConfig of)
    : step_{std::move(of), {}, {}, {}},
      rates_(workloads::compute_rates(step_.config.machine.chip)) {
  const config::StepConfig& config = step_.config;
  check_memory(config);
  for (const Task& task : config.graph.tasks) step_.core_s.push_back(core_time_s(task, rates_));
  for (const steps::Permute& permute : config.permutes)
    step_.permutes.push_back(std::make_shared<const PlannedPermute>(planned(config, permute)));
}

std::string Planner::key_of(const CallRequest& request) const {
  config::CollectiveConfig unlabelled = request.collective;
  unlabelled.label.clear();
  return fmt::format(
      "{} {} {}", first_equal(step_.config, request.call),
      unlabelled.uploads ? std::to_string(*unlabelled.uploads) : "all",
      config::collective_json(unlabelled, step_.config.calls[request.call].call.collective).dump());
}

Planner::ExpectedCall Planner::make(const CallRequest& request) const {
  return planned(step_.config, step_.config.calls[request.call], request.collective);
}

/// Notes the times of a plan, and keeps it for a while.
void Planner::note(const std::string& key, const ExpectedCall& made) {
  Known& known = known_.insert_or_assign(key, Known{times_of(made), {}}).first->second;
  if (!made) return;
  known.plan = *made;
  keep(*made);
}

/// Keeps the plans last used, whose programs are below a limit together, and at least the last one.
void Planner::keep(std::shared_ptr<const PlannedCall> plan) {
  constexpr std::uint64_t kMostBytes = 64 << 20;
  std::erase(kept_, plan);
  kept_.push_front(std::move(plan));
  std::uint64_t bytes = 0;
  for (auto one = kept_.begin(); one != kept_.end(); ++one) {
    bytes += bytes_of((*one)->plan);
    if (bytes <= kMostBytes || one == kept_.begin()) continue;
    kept_.erase(one, kept_.end());
    return;
  }
}

Planner::ExpectedCall Planner::call(const CallRequest& request) {
  const std::string key = key_of(request);
  if (const auto known = known_.find(key); known != known_.end()) {
    if (!known->second.times) return tl::unexpected(known->second.times.error());
    if (auto plan = known->second.plan.lock()) {
      keep(plan);
      return plan;
    }
  }
  ExpectedCall made = make(request);
  note(key, made);
  return made;
}

Planner::ExpectedTimes Planner::times(const CallRequest& request) {
  const std::string key = key_of(request);
  if (!known_.contains(key)) note(key, make(request));
  return known_.at(key).times;
}

void Planner::prepare_times(std::span<const CallRequest> requests, unsigned threads) {
  std::map<std::string, const CallRequest*> open;
  for (const CallRequest& request : requests)
    if (std::string key = key_of(request); !known_.contains(key))
      open.emplace(std::move(key), &request);
  const std::vector<std::pair<std::string, const CallRequest*>> list(open.begin(), open.end());
  std::mutex noting;
  os::parallel_for(list.size(), threads, [&](std::size_t i, unsigned) {
    const ExpectedCall made = make(*list[i].second);
    const std::scoped_lock lock(noting);
    note(list[i].first, made);
  });
}

VariantPlan Planner::variant(const config::StepVariant& variant) {
  VariantPlan plan = kind(variant, variant.kinds.front());
  for (std::size_t i = 1; i < variant.kinds.size(); ++i)
    plan.others.push_back(kind(variant, variant.kinds[i]));
  return plan;
}

VariantPlan Planner::kind(const config::StepVariant& variant, const config::StepKind& kind) {
  const config::StepConfig& config = step_.config;
  VariantPlan plan;
  plan.kind = kind;
  for (std::size_t i = 0; i < config.calls.size(); ++i) {
    config::CollectiveConfig collective = variant.collectives[i];
    collective.uploads = kind.uploads_of(i);
    const ExpectedCall planned = call({i, collective});
    if (!planned)
      throw input::InputError("/variants",
                              fmt::format("{}: {}", config.calls[i].group, planned.error().text()));
    plan.calls.push_back(*planned);
  }
  plan.permutes = step_.permutes;
  add_work(config, step_.core_s, rates_, plan);
  add_machine(config, plan);
  return plan;
}

StepPlan on_machine(const StepPlan& plan, const config::MachineParameters& machine) {
  StepPlan there{plan.config, {}, {}, {}};
  const config::StepConfig& config = there.config;
  config::set_parameters(machine, there.config.machine);
  const workloads::ComputeRates rates = workloads::compute_rates(config.machine.chip);
  for (const Task& task : config.graph.tasks) there.core_s.push_back(core_time_s(task, rates));
  for (const auto& permute : plan.permutes) there.permutes.push_back(on_machine(config, *permute));
  std::map<const PlannedCall*, std::shared_ptr<const PlannedCall>> calls;  // variants share them
  const auto moved = [&](const VariantPlan& variant) {
    VariantPlan made;
    made.kind = variant.kind;
    for (std::size_t i = 0; i < variant.calls.size(); ++i) {
      std::shared_ptr<const PlannedCall>& call = calls[variant.calls[i].get()];
      if (!call) call = on_machine(config, config.calls[i], *variant.calls[i], machine);
      made.calls.push_back(call);
    }
    made.permutes = there.permutes;
    add_work(config, there.core_s, rates, made);
    add_machine(config, made);
    return made;
  };
  for (const VariantPlan& variant : plan.variants) {
    VariantPlan& made = there.variants.emplace_back(moved(variant));
    for (const VariantPlan& other : variant.others) made.others.push_back(moved(other));
  }
  return there;
}

StepPlan make_plan(config::StepConfig config) {
  Planner planner(std::move(config));
  std::vector<VariantPlan> variants;
  for (const config::StepVariant& variant : planner.step().config.variants)
    variants.push_back(planner.variant(variant));
  StepPlan plan = std::move(planner).finish();
  plan.variants = std::move(variants);
  return plan;
}

}  // namespace equarx::step
