#include "importers/hlo/hlo_step.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "importers/common/device_axes.hpp"
#include "importers/hlo/tensor_types.hpp"
#include "models/steps/chip_lists.hpp"

namespace equarx::steps {
namespace {

using hlo::CollectiveKind;
using hlo::CollectiveOp;
using hlo::FlowStep;

constexpr std::size_t kMaxTasks = 100'000;
constexpr std::size_t kMaxOperations = 1'000'000;
constexpr double kMaxOpBytes = 1e12;

/// Converts collectives; explicit groups and pairs are added to the graph.
class Collectives {
 public:
  Collectives(const Mesh& mesh, StepGraph& graph)
      : axes_(mesh.lengths()), chips_(mesh.chips()), graph_(graph) {}

  ImportedCollective import(const CollectiveOp& op) {
    ImportedCollective made;
    made.group = names_.insert(op.name).second ? op.name : op.name + " of " + op.computation;
    while (!groups_.insert(made.group).second) made.group += "'";
    const TensorType type = tensor_type(op.type);
    const auto collective = collective_of(op.kind);
    made.can_quantize =
        type.is_exact && is_wide(type.format) && collective && (op.combines.empty() || op.adds);
    made.skip_reason = set_chips(op, made);
    if (!made.skip_reason.empty() || made.permute) return made;
    made.call.collective = collective.value();
    made.call.dtype = type.format;
    made.call.elements = elements_of(op.bytes, type.format);
    return made;
  }

  /// Sets groups or pairs of `made`. Returns why it cannot be simulated, or an empty string.
  std::string set_chips(const CollectiveOp& op, ImportedCollective& made) const {
    if (op.bytes <= 0.0) return "moves no data";
    if (op.bytes > kMaxOpBytes) return "too large";
    if (op.kind == CollectiveKind::permute) return set_pairs(op, made);
    if (op.groups.empty()) return op.problem;
    const auto along = axes_.axes_of(op.groups);
    const std::string error = set_groups(along, op.groups, chips_, graph_, made.call);
    if (!error.empty() || along) return error;
    const auto missing = unlisted_chip(op.groups, chips_);
    return missing ? fmt::format("unsupported groups: chip {} is in no group", *missing) : "";
  }

  std::string set_pairs(const CollectiveOp& op, ImportedCollective& made) const {
    if (op.pairs.empty()) return op.problem;
    std::vector<std::vector<std::uint32_t>> pairs;
    for (const auto& [from, to] : op.pairs) pairs.push_back({from, to});
    const std::string error = pair_error(pairs, chips_);
    if (!error.empty()) return "unsupported pairs: " + error;
    made.permute = {.pairs = chip_lists_id(graph_.chip_lists, std::move(pairs)),
                    .bytes = static_cast<std::uint64_t>(std::ceil(op.bytes))};
    return {};
  }

  imports::DeviceAxes axes_;
  std::uint32_t chips_;
  StepGraph& graph_;
  std::set<std::string> names_;
  std::set<std::string> groups_;
};

class TaskBuilder {
 public:
  /// `graph`: has no tasks yet
  TaskBuilder(const hlo::Flow& flow, const Mesh& mesh,
              const std::vector<ImportedCollective>& collectives, StepGraph& graph)
      : flow_(flow),
        mesh_(mesh),
        collectives_(collectives),
        graph_(graph),
        last_(flow.ops.size()) {}

  void build() {
    add_list(flow_.entry);
    flush();
    if (graph_.tasks.empty()) throw std::invalid_argument(why_empty());
  }

 private:
  /// Message for a step without tasks.
  std::string why_empty() const {
    constexpr std::size_t kMaxNamed = 3;
    std::string text = "the program has nothing to simulate: its ENTRY does no work";
    for (std::size_t i = 0; i < std::min(flow_.ops.size(), kMaxNamed); ++i)
      text += fmt::format("{} {} '{}' (line {}) is skipped, {}", i == 0 ? ", and" : ";",
                          name(flow_.ops[i].kind), flow_.ops[i].name, flow_.ops[i].line,
                          collectives_[i].skip_reason);
    if (flow_.ops.size() > kMaxNamed)
      text += fmt::format("; {} more are skipped", flow_.ops.size() - kMaxNamed);
    for (const auto& [note, count] : flow_.notes)
      if (note.starts_with("not run")) text += "; " + note;
    return text;
  }

  void add_list(hlo::ListId list) {
    for (const FlowStep& step : flow_.lists[list]) {
      switch (step.kind) {
        case FlowStep::Kind::work: add_work(step); break;
        case FlowStep::Kind::begin: begin(step.op); break;
        case FlowStep::Kind::end: end(step.op); break;
        case FlowStep::Kind::repeat:
          for (std::uint64_t time = 0; time < step.times; ++time) {
            if (++iterations_ > kMaxOperations) throw_too_large();
            add_list(step.body);
          }
          break;
      }
    }
  }

  void add_work(const FlowStep& step) {
    const hlo::Cost& cost = step.cost;
    if (cost.from_host_bytes > 0.0)
      move(HostTransfer::Direction::from_host,
           cost.from_host_bytes * static_cast<double>(step.times));
    if (cost.uses_core()) {
      // Work added after an awaited collective belongs to a new task.
      if (!awaited_.empty()) begin_work();
      work_.operations.push_back(hlo::operation_of(cost, step.times));
      work_.model_flops += cost.matrix_flops * static_cast<double>(step.times);
      if (++operations_ > kMaxOperations) throw_too_large();
    }
    if (cost.to_host_bytes > 0.0)
      move(HostTransfer::Direction::to_host, cost.to_host_bytes * static_cast<double>(step.times));
  }

  /// Makes the next compute task depend on the awaited tasks.
  void begin_work() {
    if (work_.operations.empty()) work_after_ = std::exchange(awaited_, {});
  }

  /// Turns pending work into a task.
  void flush() {
    if (work_.operations.empty()) return;
    work_.operations.shrink_to_fit();
    const TaskId id = add({.name = fmt::format("compute {}", computations_++),
                           .group = "compute",
                           .stream = stream_id(graph_, "core"),
                           .work = std::exchange(work_, {}),
                           .after = std::exchange(work_after_, {})});
    core_ = id;
  }

  void begin(hlo::OpId op) {
    const ImportedCollective& collective = collectives_[op];
    if (!collective.skip_reason.empty()) return;
    flush();
    const std::string stream = collective.permute ? "permute" : over_text(collective.call, mesh_);
    last_[op] = add({.name = fmt::format("{} {}", collective.group, tasks_of_op_[op]++),
                     .group = collective.group,
                     .stream = stream_id(graph_, stream),
                     .work = work_of(collective),
                     .after = dependencies()});
  }

  /// Later work waits for this collective, which makes the collective's own dependencies redundant.
  void end(hlo::OpId op) {
    if (!last_[op]) return;
    flush();
    const std::vector<TaskId>& before = graph_.tasks[*last_[op]].after;
    std::erase_if(awaited_,
                  [&](TaskId id) { return std::ranges::find(before, id) != before.end(); });
    awaited_.push_back(*last_[op]);
  }

  void move(HostTransfer::Direction direction, double bytes) {
    flush();
    const bool out = direction == HostTransfer::Direction::to_host;
    const char* stream = out ? "to-host" : "from-host";
    awaited_ = {add({.name = fmt::format("{} {}", stream, transfers_++),
                     .group = stream,
                     .stream = stream_id(graph_, stream),
                     .work = HostTransfer{.direction = direction, .bytes = bytes},
                     .after = dependencies()})};
  }

  /// Dependencies of a task that starts at the current position.
  std::vector<TaskId> dependencies() const {
    std::vector<TaskId> after = awaited_;
    if (core_) after.push_back(*core_);
    return after;
  }

  TaskId add(Task task) {
    if (graph_.tasks.size() == kMaxTasks) throw_too_large();
    graph_.tasks.push_back(std::move(task));
    return static_cast<TaskId>(graph_.tasks.size() - 1);
  }

  [[noreturn]] static void throw_too_large() {
    throw std::invalid_argument(
        fmt::format("expands to more than {} tasks or {} operations; lower a trip count with "
                    "--trip-count LOOP=COUNT",
                    kMaxTasks, kMaxOperations));
  }

  const hlo::Flow& flow_;
  const Mesh& mesh_;
  const std::vector<ImportedCollective>& collectives_;
  StepGraph& graph_;
  Computation work_;                         // work that is not yet part of a task
  std::vector<TaskId> work_after_;           // dependencies of work_
  std::vector<TaskId> awaited_;              // ended, but no core task waits for them yet
  std::optional<TaskId> core_;               // latest core task
  std::vector<std::optional<TaskId>> last_;  // by op
  std::vector<std::uint32_t> tasks_of_op_ = std::vector<std::uint32_t>(flow_.ops.size());
  std::uint32_t computations_ = 0;
  std::uint32_t transfers_ = 0;
  std::size_t operations_ = 0;
  std::size_t iterations_ = 0;
};

}  // namespace

std::vector<MeshAxis> axes_for(const hlo::Flow& flow, std::uint32_t devices) {
  imports::DeviceAxes axes(devices);
  for (const CollectiveOp& op : flow.ops)
    if (!op.groups.empty()) axes.divide_for(op.groups);
  return named_axes(axes.lengths());
}

HloStep hlo_step(const hlo::Flow& flow, const Mesh& mesh) {
  HloStep step;
  Collectives collectives(mesh, step.graph);
  for (const CollectiveOp& op : flow.ops) step.collectives.push_back(collectives.import(op));
  TaskBuilder(flow, mesh, step.collectives, step.graph).build();
  return step;
}

}  // namespace equarx::steps
