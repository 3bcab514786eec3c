#include "experiments/step/run.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/os/parallel_for.hpp"
#include "experiments/config/task_index.hpp"
#include "experiments/run/varied.hpp"
#include "experiments/step/activity.hpp"
#include "experiments/step/bounds.hpp"
#include "experiments/step/chip_times.hpp"
#include "experiments/step/errors.hpp"
#include "experiments/step/kinds.hpp"
#include "experiments/step/memory.hpp"
#include "experiments/step/operations.hpp"
#include "experiments/step/timing.hpp"

namespace equarx::step {
namespace {

using steps::TaskTime;

/// Disjoint time intervals in ascending order.
using Intervals = std::vector<TaskTime>;

/// Merges overlapping intervals.
Intervals merged(Intervals intervals) {
  std::ranges::sort(intervals, {}, &TaskTime::start_s);
  Intervals disjoint;
  for (const TaskTime& interval : intervals) {
    if (!disjoint.empty() && interval.start_s <= disjoint.back().end_s)
      disjoint.back().end_s = std::max(disjoint.back().end_s, interval.end_s);
    else
      disjoint.push_back(interval);
  }
  return disjoint;
}

double length_s(const Intervals& intervals) {
  double seconds = 0.0;
  for (const TaskTime& interval : intervals) seconds += interval.end_s - interval.start_s;
  return seconds;
}

/// Length of the intersection. Linear in the intervals of `one`, and in the intervals of `other` between its
/// first and its last.
double intersection_s(const Intervals& one, const Intervals& other) {
  if (one.empty()) return 0.0;
  double seconds = 0.0;
  auto i = one.begin();
  auto j = std::ranges::upper_bound(other, i->start_s, {}, &TaskTime::end_s);
  while (i != one.end() && j != other.end()) {
    const double start_s = std::max(i->start_s, j->start_s);
    const double end_s = std::min(i->end_s, j->end_s);
    seconds += std::max(0.0, end_s - start_s);
    i->end_s < j->end_s ? ++i : ++j;
  }
  return seconds;
}

GroupKind kind_of(const steps::Task& task) {
  if (std::holds_alternative<steps::CollectiveCall>(task.work)) return GroupKind::collective;
  if (std::holds_alternative<steps::Permute>(task.work) ||
      std::holds_alternative<steps::Receive>(task.work))
    return GroupKind::permute;
  return std::holds_alternative<steps::HostTransfer>(task.work) ? GroupKind::host
                                                                : GroupKind::computation;
}

/// Simulates one variant and computes its result.
class Run {
 public:
  Run(const StepPlan& plan, const VariantPlan& variant)
      : plan_(plan),
        graph_(plan.config.graph),
        variant_(variant),
        index_(plan.config),
        totals_(totals_of(variant.work, variant.machine)) {}

  SimulatedKind run(const std::string& label) {
    result_.label = label;
    result_.engine = engine_of(plan_.config);
    result_.simulation_reason = variant_.reason;
    const sim::TimeResult time = simulate();
    result_.time_s = time.time_s;
    result_.lower_bound_s = lower_bound_s(plan_, variant_, totals_);
    result_.messages = time.messages;
    result_.simulated_chips = variant_.machine.ranks();
    result_.symmetric = variant_.symmetric;
    const collectives::Rank chip = last_chip(time);
    result_.core_busy_s = time.core_busy_s[chip];
    check(time);
    const ChipTimes times(plan_.config, time,
                          variant_.classes ? &variant_.classes->chips : nullptr);
    times.roles().differ() ? report_chips(times) : report_last_chip(time, chip);
    const hardware::Activity activity = activity_of(plan_, variant_, totals_, result_.time_s);
    return {variant_.kind, std::move(result_), activity};
  }

 private:
  /// Indices of groups, by name.
  using Places = std::unordered_map<std::string, std::size_t>;

  /// Marks of a chip: two for each task.
  std::ptrdiff_t marks() const { return 2 * static_cast<std::ptrdiff_t>(graph_.tasks.size()); }

  /// Simulates the step; if it is large, without most of its repetitions.
  sim::TimeResult simulate() {
    if (std::optional<sim::RepeatedTime> repeated = repeated_time(plan_, variant_, totals_)) {
      result_.simulation_reason +=
          fmt::format("; jumped: {} of {} tasks simulated, the others repeat them", repeated->tasks,
                      graph_.tasks.size());
      if (const std::uint64_t messages = repeated->time.jumped; messages > 0)
        result_.simulation_reason += fmt::format(", as do {} of their messages", messages);
      return std::move(repeated->time);
    }
    return step::simulate(plan_, variant_);
  }

  void require(bool holds, std::string_view invariant) const {
    if (!holds)
      throw input::InvariantError(
          fmt::format("internal error in '{}': {}; please report this", result_.label, invariant));
  }

  void check(const sim::TimeResult& time) const {
    require(time.time_s >= result_.lower_bound_s * (1.0 - sim::kBoundRounding),
            "simulated time is below its lower bound");
    require(time.link_bytes == totals_.link_bytes, "bytes on the links differ from the bytes sent");
    require(time.messages == totals_.messages, "not every message was received");
  }

  /// Returns the chip that ends last, the first one on a tie.
  collectives::Rank last_chip(const sim::TimeResult& time) const {
    constexpr double kSame = 1e-9;  // relative tolerance for rounding
    std::vector<double> end_s;      // by chip
    for (collectives::Rank chip = 0; chip < variant_.machine.ranks(); ++chip) {
      const auto first = time.marks_s.begin() + chip * marks();
      end_s.push_back(*std::max_element(first, first + marks()));
    }
    const double last_s = std::ranges::max(end_s) * (1.0 - kSame);
    return static_cast<collectives::Rank>(
        std::ranges::find_if(end_s, [&](double one_s) { return one_s >= last_s; }) - end_s.begin());
  }

  /// Each task of the critical path counts from the end of the previous one.
  void report_last_chip(const sim::TimeResult& time, collectives::Rank chip) {
    const auto marks_s = time.marks_s.begin() + chip * marks();
    for (steps::TaskId id = 0; id < graph_.tasks.size(); ++id)
      result_.tasks.push_back({marks_s[sim::start_mark(id)], marks_s[sim::end_mark(id)]});
    add(groups_of({result_.tasks, std::vector<bool>(graph_.tasks.size(), true)}));
    CriticalPath path{critical_path(graph_, result_.tasks), {}};
    for (const steps::TaskId id : path.tasks) path.end_s.push_back(result_.tasks[id].end_s);
    add_critical_times(path);
  }

  /// Groups: of the chip on which they take longest.
  void report_chips(const ChipTimes& times) {
    result_.tasks = times.of_all();
    for (const std::uint32_t chip : times.chips()) {
      TasksOfChip tasks{{}, times.roles().tasks_of(chip)};
      for (steps::TaskId id = 0; id < graph_.tasks.size(); ++id)
        tasks.times.push_back(tasks.runs[id] ? times.on(chip, id) : TaskTime{});
      const GroupsOfChip groups = groups_of(tasks);
      add(groups);
      add_idle(chip, groups.compute_s);
    }
    add_critical_times(times.critical_path());
  }

  /// Adds the idle share of a chip to its stage: the smallest of its chips.
  void add_idle(std::uint32_t chip, double compute_s) {
    const std::optional<std::uint32_t> stage = stage_of(plan_.config, chip);
    if (!stage) return;
    result_.stage_idle.resize(plan_.config.mesh.length(kPipelineAxis), 1.0);
    double& idle = result_.stage_idle[*stage];
    idle = std::min(idle, std::max(0.0, 1.0 - compute_s / result_.time_s));
  }

  /// Tasks of a chip and their times.
  struct TasksOfChip {
    std::vector<TaskTime> times;
    std::vector<bool> runs;  ///< by task
  };
  /// Groups and compute time of a chip.
  struct GroupsOfChip {
    std::vector<GroupResult> groups;
    Places places;
    double compute_s = 0.0;
  };

  /// `time`: of the task on the chip
  double isolated_s(steps::TaskId id, const TaskTime& time) const {
    const steps::Task& task = graph_.tasks[id];
    if (const auto call = index_.call_of(task))
      return variant_.kind.skips(*call) ? 0.0 : variant_.calls[*call]->isolated_s;
    if (const auto permute = index_.permute_of(task))
      return std::get<steps::Permute>(task.work).waits ? variant_.permutes[*permute]->isolated_s
                                                       : 0.0;
    if (const auto* receive = std::get_if<steps::Receive>(&task.work))
      return variant_.permutes[*index_.permute_of(graph_.tasks[receive->permute])]->isolated_s;
    return kind_of(task) == GroupKind::host ? time.end_s - time.start_s : plan_.core_s[id];
  }

  GroupsOfChip groups_of(const TasksOfChip& tasks) const {
    std::vector<steps::TaskId> order;
    for (steps::TaskId id = 0; id < graph_.tasks.size(); ++id)
      if (tasks.runs[id]) order.push_back(id);
    std::ranges::stable_sort(order, {}, [&](steps::TaskId id) { return tasks.times[id].start_s; });
    GroupsOfChip made;
    std::unordered_map<std::string_view, Intervals> intervals;
    Intervals computing;
    for (const steps::TaskId id : order) {
      const steps::Task& task = graph_.tasks[id];
      GroupResult& group = group_of(task, made.groups, made.places);
      ++group.tasks;
      group.isolated_s += isolated_s(id, tasks.times[id]);
      intervals[task.group].push_back(tasks.times[id]);
      if (kind_of(task) == GroupKind::computation) computing.push_back(tasks.times[id]);
    }
    computing = merged(std::move(computing));
    made.compute_s = length_s(computing);
    for (GroupResult& group : made.groups) {
      const Intervals covered = merged(std::move(intervals[group.name]));
      group.total_s = length_s(covered);
      if (group.kind != GroupKind::computation)
        group.exposed_s = group.total_s - intersection_s(covered, computing);
    }
    return made;
  }

  /// Keeps the largest times of several chips.
  void add(const GroupsOfChip& chip) {
    result_.compute_s = std::max(result_.compute_s, chip.compute_s);
    for (const GroupResult& group : chip.groups) {
      const auto [place, is_new] = places_.try_emplace(group.name, result_.groups.size());
      if (is_new)
        result_.groups.push_back(group);
      else if (group.total_s > result_.groups[place->second].total_s)
        result_.groups[place->second] = group;
    }
  }

  void add_critical_times(const CriticalPath& path) {
    result_.critical_path = path.tasks;
    double since_s = 0.0;
    for (std::size_t i = 0; i < path.tasks.size(); ++i) {
      group_of(graph_.tasks[path.tasks[i]], result_.groups, places_).critical_s +=
          path.end_s[i] - since_s;
      since_s = path.end_s[i];
    }
  }

  static GroupResult& group_of(const steps::Task& task, std::vector<GroupResult>& groups,
                               Places& places) {
    const auto [place, is_new] = places.try_emplace(task.group, groups.size());
    if (is_new) groups.push_back({.name = task.group, .kind = kind_of(task)});
    return groups[place->second];
  }

  const StepPlan& plan_;
  const steps::StepGraph& graph_;
  const VariantPlan& variant_;
  config::TaskIndex index_;
  StepTotals totals_;
  VariantResult result_;
  Places places_;  ///< of result_.groups
};

/// Tokens per step over all chips.
double tokens_of(const config::StepConfig& config) {
  if (config.training) return steps::tokens(config.training->training);
  const config::WorkloadConfig& workload = config.workload.value();
  return config.mesh.length("data") * config.mesh.length("expert") *
         workloads::extent(workload.phase).rows();
}

/// FLOPs of a chip; the mean if chips run different tasks.
double computed_flops(const config::StepConfig& config) {
  const steps::Roles roles(config.graph, config.mesh.chips());
  double flops = 0.0;
  for (steps::TaskId id = 0; id < config.graph.tasks.size(); ++id)
    if (const auto* work = std::get_if<steps::Computation>(&config.graph.tasks[id].work))
      for (const workloads::Operation& operation : work->operations)
        flops += operation.flops * static_cast<double>(operation.times) * roles.share_of(id);
  return flops;
}

void add_core_times(const std::vector<OperationTotal>& operations, Efficiency& efficiency) {
  using workloads::OperationKind;
  for (const OperationTotal& operation : operations) switch (operation.kind) {
      case OperationKind::matrix: efficiency.matrix_s += operation.time_s; break;
      case OperationKind::attention: efficiency.attention_s += operation.time_s; break;
      default: efficiency.elementwise_s += operation.time_s;
    }
}

Efficiency efficiency_of(const config::StepConfig& config, double time_s) {
  const double chips = config.mesh.chips();
  const double peak = config.machine.chip.matrix_rate_bf16.value * time_s;
  Efficiency efficiency;
  efficiency.tokens_per_s = tokens_of(config) / chips / time_s;
  efficiency.hardware_flops_share = computed_flops(config) / peak;
  add_core_times(total_operations(config), efficiency);
  if (config.training)
    efficiency.model_flops_share = steps::model_flops(config.training->training) / chips / peak;
  return efficiency;
}

/// Adds the isolated runs of the collectives.
void add_collectives(const StepPlan& plan, const VariantPlan& variant, VariantResult& result) {
  const std::vector<std::uint32_t> tasks = config::tasks_of_calls(plan.config);
  result.collectives.reserve(variant.calls.size());
  for (std::size_t call = 0; call < variant.calls.size(); ++call) {
    const std::string& group = plan.config.calls[call].group;
    result.collectives.push_back({group, tasks[call], *variant.calls[call]->isolated});
    result.collectives.back().run.label = group;
  }
}

}  // namespace

VariantResult run_variant(const StepPlan& plan, const VariantPlan& variant,
                          const std::string& label) {
  std::vector<SimulatedKind> kinds = {Run(plan, variant).run(label)};
  for (const VariantPlan& other : variant.others) kinds.push_back(Run(plan, other).run(label));
  VariantResult result = mean_of(plan.config, std::move(kinds));
  result.chips = plan.config.mesh.chips();
  result.calibrated = plan.config.machine.chip.is_calibrated();
  add_collectives(plan, variant, result);
  result.hbm_share = hbm_share(plan.config);
  if (plan.config.training || plan.config.workload)
    result.efficiency = efficiency_of(plan.config, result.time_s);
  return result;
}

namespace {

/// Progress is that of the variants on the caller's thread, which may hold the lock of an interpreter.
std::vector<VariantResult> run_variants(const StepPlan& plan, const Progress& progress,
                                        unsigned threads) {
  std::vector<VariantResult> results(plan.variants.size());
  os::parallel_for(results.size(), threads_for(plan.config, threads),
                   [&](std::size_t i, unsigned thread) {
                     const VariantPlan& variant = plan.variants[i];
                     const std::string& label = plan.config.variants[i].label;
                     if (thread == 0)
                       progress(fmt::format("{} of {}: {}: simulating {} tasks on {} chips", i + 1,
                                            results.size(), label, plan.config.graph.tasks.size(),
                                            variant.machine.ranks()));
                     results[i] = run_variant(plan, variant, label);
                   });
  return results;
}

}  // namespace

StepResult run_step(const StepPlan& plan, const Progress& progress, const StepOptions& options) {
  StepResult result{{plan.config, run_variants(plan, progress, options.threads)},
                    memory_of(plan.config),
                    total_operations(plan.config)};
  run::set_speedups(result.runs, plan.config.baseline);
  add_errors(plan, progress, options.threads, options.tensors, result);
  config::UncertaintyConfig& requested = result.config.machine.uncertainty;
  double messages = 0.0;
  for (const VariantResult& variant : result.runs)
    messages += static_cast<double>(variant.messages);
  if (options.uncertainty) requested = variation::with_default_samples(requested, messages);
  if (requested.samples > 0 || options.sensitivity)
    run::add_variation(result,
                       varied_variants(plan, find_cuts(plan, options.threads), options.threads),
                       requested, options.sensitivity, progress);
  return result;
}

}  // namespace equarx::step
