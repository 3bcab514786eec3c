#include "models/steps/training_tasks.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "models/steps/chip_lists.hpp"
#include "models/workloads/attention.hpp"

namespace equarx::steps {
namespace {

using workloads::Operation;
using Lists = std::vector<std::vector<std::uint32_t>>;

std::uint64_t whole(double number) { return static_cast<std::uint64_t>(std::llround(number)); }

double pairs_ratio(const Training& training, const Degrees& degrees) {
  const auto positions = static_cast<double>(training.sequence);
  const workloads::Extent extent{positions, positions, 1.0};
  const bool last = training.context != ContextMethod::all_to_all &&
                    training.positions == ContextOrder::contiguous;
  const double chips = last ? degrees.context : 1.0;  // that compute as much as the last
  return workloads::score_pairs(training.model, extent, {.fused = true}, false) /
         (chips * workloads::score_pairs(training.model, {positions / chips, positions, 1.0},
                                         training.attention, false));
}

/// Weight of attention in model FLOPs: backward GEMMs count as twice the forward ones, whatever
/// the kernel does.
double counted_products(const Operation& operation) {
  constexpr double kCounted = 4.0;
  return operation.name == "attention_gradient" ? kCounted / workloads::kBackwardProducts : 1.0;
}

/// Each task once, without kNoTask.
TaskIds distinct(const TaskIds& tasks) {
  TaskIds once;
  std::set<TaskId> known = {kNoTask};
  for (const TaskId task : tasks)
    if (known.insert(task).second) once.push_back(task);
  return once;
}

}  // namespace

TrainingPlan::TrainingPlan(const Training& setup, const Mesh& on)
    : training(setup),
      mesh(on),
      degrees(steps::degrees(on)),
      first(training_operations(setup, degrees)),
      later(training_operations(setup, degrees, Casts::cached)),
      rows(rows_of_chip(setup, degrees)),
      all_pairs(pairs_ratio(setup, degrees)) {}

TaskWriter::TaskWriter(const TrainingPlan& plan, StepGraph& graph,
                       std::optional<std::uint32_t> chips)
    : plan_(plan), graph_(graph), chips_(chips) {}

TaskId TaskWriter::add(const std::string& name, const std::string& group, const std::string& stream,
                       decltype(Task::work) work, TaskIds after) {
  after = distinct(after);
  const bool names_chips =
      std::holds_alternative<Permute>(work) || std::holds_alternative<Receive>(work);
  graph_.tasks.push_back({name, group, stream_id(graph_, stream), std::move(work), std::move(after),
                          names_chips ? std::nullopt : chips_});
  return next() - 1;
}

TaskId TaskWriter::compute(const std::string& name, const std::string& group,
                           const std::vector<Operation>& operations, ModelFlops model,
                           TaskIds after) {
  Computation work{.operations = operations};
  if (model == ModelFlops::counts)
    for (const Operation& operation : operations) {
      if (operation.kind == workloads::OperationKind::vector) continue;  // masks of experts
      work.model_flops += operation.flops * (operation.kind == workloads::OperationKind::attention
                                                 ? plan_.all_pairs * counted_products(operation)
                                                 : 1.0);
    }
  return add(name, group, "core", std::move(work), std::move(after));
}

TaskId TaskWriter::communicate(const std::string& name, const std::string& group,
                               const std::string& stream, collectives::Collective collective,
                               const std::vector<std::string>& axes, double elements, TaskIds after,
                               numerics::ElementFormat dtype) {
  CollectiveCall call{.collective = collective, .elements = whole(elements), .dtype = dtype};
  for (const std::string& axis : axes)
    if (plan_.mesh.length(axis) > 1) call.axes.push_back(*plan_.mesh.find(axis));
  if (call.axes.empty()) return kNoTask;
  std::ranges::sort(call.axes);
  return add(name, group, stream, call, std::move(after));
}

TaskId TaskWriter::shift(const std::string& name, const std::string& group,
                         const std::string& stream, const std::string& axis, double bytes,
                         TaskIds after) {
  if (!shift_pairs_) {
    Lists pairs;
    const std::vector<std::size_t> along = {*plan_.mesh.find(axis)};
    for (const std::vector<std::uint32_t>& ring : plan_.mesh.groups_along(along)) {
      const bool runs =
          !chips_ || std::ranges::binary_search(graph_.chip_lists[*chips_].lists.front(), ring[0]);
      for (std::size_t i = 0; runs && i < ring.size(); ++i)
        pairs.push_back({ring[i], ring[(i + 1) % ring.size()]});
    }
    std::ranges::sort(pairs);
    shift_pairs_ = chip_lists_id(graph_.chip_lists, std::move(pairs));
  }
  return add(name, group, stream, Permute{.pairs = *shift_pairs_, .bytes = whole(bytes)},
             std::move(after));
}

}  // namespace equarx::steps
