#include "models/steps/training_pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "models/steps/chip_lists.hpp"
#include "models/workloads/vector_work.hpp"

namespace equarx::steps {
namespace {

using collectives::Collective;
using numerics::ElementFormat;
using workloads::Operation;
using Lists = std::vector<std::vector<std::uint32_t>>;

constexpr const char* kPipeline = "pipeline";

/// Chips of each stage, in the order of their other coordinates.
Lists chips_of_stages(const Mesh& mesh) {
  std::vector<std::size_t> others;
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis)
    if (mesh.axes[axis].name != kPipeline) others.push_back(axis);
  return mesh.groups_along(others);
}

/// Groups along some axes, of the chips of one stage.
Lists groups_within(const Mesh& mesh, const std::vector<std::string>& axes,
                    const std::vector<std::uint32_t>& chips) {
  std::vector<std::size_t> along;
  for (const std::string& axis : axes)
    if (const auto found = mesh.find(axis)) along.push_back(*found);
  std::ranges::sort(along);
  Lists groups = mesh.groups_along(along);
  std::erase_if(groups, [&](const auto& group) {
    return std::ranges::find(chips, group.front()) == chips.end();
  });
  return groups;
}

PipelineShape shape_of(const Training& training, const Degrees& degrees) {
  return {training.pipeline.schedule, degrees.pipeline, training.microbatches,
          training.pipeline.chunks};
}

std::uint32_t checked_parts(const PipelineShape& shape) {
  if (const std::string error = pipeline_error(shape); !error.empty())
    throw std::invalid_argument(error);
  return shape.parts();
}

/// Conversion of a message from or to bf16.
Operation conversion(double elements, ElementFormat format) {
  const double bytes = numerics::element_bits(format) / 8.0;
  Operation operation{.name = "convert_message", .kind = workloads::OperationKind::vector};
  operation.vector_ops = elements * (workloads::kFromBf16 + workloads::kToBf16);
  operation.read_bytes = elements * workloads::kActivationBytes;
  operation.written_bytes = elements * bytes;
  return operation;
}

std::string message_name(bool forward, std::uint32_t part, std::uint32_t microbatch) {
  return fmt::format("{} of part {} of microbatch {}", forward ? "input" : "gradient", part,
                     microbatch);
}

}  // namespace

TrainingPipeline::TrainingPipeline(const Training& training, const Mesh& mesh)
    : plan_(training, mesh),
      shape_(shape_of(training, plan_.degrees)),
      chips_(chips_of_stages(mesh)),
      parts_(model_parts(training.model, checked_parts(shape_), training.pipeline.layers)),
      actions_(pipeline_actions(shape_)),
      next_(shape_.stages) {
  graph_.streams = {"core"};
  for (std::uint32_t stage = 0; stage < shape_.stages; ++stage)
    stages_.emplace_back(plan_, setup_of(stage), graph_);
}

StageSetup TrainingPipeline::setup_of(std::uint32_t stage) {
  StageSetup setup;
  const bool both_ways = shape_.kind == PipelineKind::dual_pipe;
  for (std::uint32_t chunk = 0; chunk < shape_.chunks_of_stage(); ++chunk)
    setup.parts.push_back(parts_[part_at(shape_, {stage, chunk})]);
  setup.microbatches = shape_.microbatches / (both_ways ? 2 : 1);
  setup.sums = !both_ways;
  if (shape_.stages == 1 && shape_.parts() == 1) return setup;
  setup.number = stage;
  if (shape_.stages > 1) setup.chips = chip_lists_id(graph_.chip_lists, {chips_[stage]});
  return setup;
}

StepGraph TrainingPipeline::graph() && {
  gather_updated();
  add_actions();
  const std::vector<TaskIds> sums = sum_shared_weights();
  for (std::uint32_t stage = 0; stage < shape_.stages; ++stage) stages_[stage].finish(sums[stage]);
  validate(graph_);
  return std::move(graph_);
}

// --- Actions and messages

/// Adds the actions of all stages, each after the ones whose messages it awaits.
void TrainingPipeline::add_actions() {
  bool added = true;
  while (added) {
    added = false;
    for (std::uint32_t stage = 0; stage < shape_.stages; ++stage)
      while (next_[stage] < actions_[stage].size() && add_next(stage)) added = true;
  }
  for (std::uint32_t stage = 0; stage < shape_.stages; ++stage)
    if (next_[stage] < actions_[stage].size())
      throw std::logic_error("stages of a pipeline wait for each other");
}

/// Adds the next action of a stage, and the one whose layers alternate with it. Returns false if a
/// message has not been sent.
bool TrainingPipeline::add_next(std::uint32_t stage) {
  const auto first = actions_[stage].begin() + static_cast<std::ptrdiff_t>(next_[stage]);
  const Actions actions(first, first + (first->alternates ? 2 : 1));
  for (const PipelineAction& action : actions)
    if (const auto message = awaited(stage, action); message && !sent_.contains(*message))
      return false;
  std::vector<TrainingStage::Writers> writers;
  std::size_t longest = 0;
  for (const PipelineAction& action : actions) {
    writers.push_back(stages_[stage].writers(action, receive(stage, action)));
    longest = std::max(longest, writers.back().size());
  }
  for (std::size_t i = 0; i < longest; ++i)
    for (const TrainingStage::Writers& one : writers)
      if (i < one.size()) one[i]();
  for (const PipelineAction& action : actions) send(stage, action);
  next_[stage] += actions.size();
  return true;
}

/// The message that an action starts with; std::nullopt if there is none.
std::optional<TrainingPipeline::Message> TrainingPipeline::awaited(
    std::uint32_t stage, const PipelineAction& action) const {
  const std::uint32_t part = part_at(shape_, {stage, action.chunk});
  const bool forward = action.kind == ActionKind::forward;
  if (action.kind == ActionKind::weight_gradients) return std::nullopt;
  if (part == (forward ? 0 : shape_.parts() - 1)) return std::nullopt;
  return Message{forward, action.microbatch, part};
}

TaskId TrainingPipeline::receive(std::uint32_t stage, const PipelineAction& action) {
  const std::optional<Message> message = awaited(stage, action);
  if (!message) return kNoTask;
  const auto& [forward, microbatch, part] = *message;
  const TaskId sent = sent_.at(*message);
  const std::string name = message_name(forward, part, microbatch);
  // Between parts on the same chips nothing is sent.
  if (!std::holds_alternative<Permute>(graph_.tasks[sent].work)) return sent;
  const TaskId received = stages_[stage].tasks().add(
      "receive " + name, forward ? "receive activations" : "receive gradients", "receive",
      Receive{sent}, {});
  return convert(stage, "convert received " + name, received);
}

void TrainingPipeline::send(std::uint32_t stage, const PipelineAction& action) {
  const bool forward = action.kind == ActionKind::forward;
  const std::uint32_t part = part_at(shape_, {stage, action.chunk});
  if (action.kind == ActionKind::weight_gradients) return;
  if (part == (forward ? shape_.parts() - 1 : 0)) return;
  const std::uint32_t to_part = forward ? part + 1 : part - 1;
  const std::uint32_t to = place_of(shape_, to_part, action.microbatch).stage;
  const std::string name = message_name(forward, to_part, action.microbatch);
  TaskId& sent = sent_[{forward, action.microbatch, to_part}];
  sent = stages_[stage].end_of(action);
  if (to == stage) return;
  const double bits = numerics::element_bits(plan_.training.pipeline.activation_dtype);
  const Permute permute{
      .pairs = chip_lists_id(graph_.chip_lists, pairs(stage, to)),
      .bytes = static_cast<std::uint64_t>(std::ceil(message_elements() * bits / 8.0)),
      .waits = false};
  const TaskId made = convert(stage, "convert " + name, sent);
  sent = stages_[stage].tasks().add("send " + name, forward ? "send activations" : "send gradients",
                                    "send", permute, {made});
}

/// Elements of a message between stages, of one chip.
double TrainingPipeline::message_elements() const {
  const double shards = plan_.training.sequence_parallel ? plan_.degrees.tensor : 1.0;
  return plan_.rows * plan_.training.model.d_model / shards;
}

/// Converts a message between stages from or to bf16, if it has another type.
TaskId TrainingPipeline::convert(std::uint32_t stage, const std::string& name, TaskId after) {
  const ElementFormat format = plan_.training.pipeline.activation_dtype;
  if (format == ElementFormat::bf16) return after;
  return stages_[stage].tasks().compute(name, "convert messages",
                                        {conversion(message_elements(), format)}, ModelFlops::none,
                                        {after});
}

Lists TrainingPipeline::pairs(std::uint32_t from, std::uint32_t to) const {
  Lists all;
  for (std::size_t i = 0; i < chips_[from].size(); ++i)
    all.push_back({chips_[from][i], chips_[to][i]});
  return all;
}

// --- Weights that several stages have

/// Gathers updated weights. With DualPipe two stages have the same.
void TrainingPipeline::gather_updated() {
  if (!plan_.training.distributed_optimizer) return;
  if (shape_.kind != PipelineKind::dual_pipe) {
    for (TrainingStage& stage : stages_) stage.weights().gather_updated(stage.weight_parts());
    return;
  }
  for (std::uint32_t stage = 0; stage < shape_.stages / 2; ++stage) {
    const std::uint32_t other = shape_.stages - 1 - stage;
    for (const WeightBucket& bucket :
         stages_[stage].weights().buckets(stages_[stage].weight_parts())) {
      TaskId gathered = kNoTask;
      for (const WeightsOverAxes& of : replica_parts(bucket.weights, plan_.degrees))
        gathered =
            over_stages("gather updated " + bucket.name + of.suffix(), "gather updated weights",
                        Collective::all_gather, stage, other, of.axes, of.elements, {});
      for (const WeightPart part : bucket.parts)
        for (const std::uint32_t one : {stage, other})
          stages_[one].weights().set_updated(part, gathered);
    }
  }
}

/// Sums gradients of weights that several stages have: of all with DualPipe, else of a table that
/// serves the embedding and the head. Returns the last tasks, by stage.
std::vector<TaskIds> TrainingPipeline::sum_shared_weights() {
  std::vector<TaskIds> sums(shape_.stages);
  const Training& training = plan_.training;
  const auto sum = [&](std::uint32_t one, std::uint32_t other, Collective collective,
                       const WeightsOverAxes& part, const std::string& what) {
    TaskIds after = stages_[one].weights().gradients();
    const TaskIds& more = stages_[other].weights().gradients();
    after.insert(after.end(), more.begin(), more.end());
    const TaskId done =
        over_stages("sum gradients" + part.suffix() + " of " + what, "sum gradients", collective,
                    one, other, part.axes, part.elements, std::move(after));
    sums[one].push_back(done);
    sums[other].push_back(done);
  };
  const std::uint32_t last = shape_.stages - 1;
  if (shape_.kind == PipelineKind::dual_pipe) {
    const Collective collective =
        training.distributed_optimizer ? Collective::reduce_scatter : Collective::all_reduce;
    for (std::uint32_t stage = 0; stage < shape_.stages / 2; ++stage)
      for (const WeightBucket& bucket :
           stages_[stage].weights().buckets(stages_[stage].weight_parts()))
        for (const WeightsOverAxes& of : replica_parts(bucket.weights, plan_.degrees))
          sum(stage, last - stage, collective, of, bucket.name);
  } else if (last > 0 && (training.model.tied_embeddings || training.prediction_depth > 0)) {
    const double parts = training.distributed_optimizer ? plan_.degrees.dense_replicas() : 1.0;
    const double shard =
        table_weights(training.model, plan_.degrees) / plan_.degrees.dense_shards();
    sum(0, last, Collective::all_reduce, {false, {}, std::ceil(shard / parts)},
        fmt::format("the table of stages 0 and {}", last));
  }
  return sums;
}

/// A collective over chips of two stages with equal coordinates, and along `axes`.
TaskId TrainingPipeline::over_stages(const std::string& name, const std::string& group,
                                     Collective collective, std::uint32_t one, std::uint32_t other,
                                     const std::vector<std::string>& axes, double elements,
                                     TaskIds after) {
  Lists groups = groups_within(plan_.mesh, axes, chips_[one]);
  const Lists more = groups_within(plan_.mesh, axes, chips_[other]);
  for (std::size_t i = 0; i < groups.size(); ++i)
    groups[i].insert(groups[i].end(), more[i].begin(), more[i].end());
  const auto size = static_cast<std::uint32_t>(groups.front().size());
  const CollectiveCall call{
      .collective = collective,
      .groups = ListedGroups{chip_lists_id(graph_.chip_lists, std::move(groups)), size},
      .elements = static_cast<std::uint64_t>(std::llround(elements)),
      .dtype = collective == Collective::all_gather ? ElementFormat::bf16
                                                    : plan_.training.gradient_dtype};
  return TaskWriter(plan_, graph_, std::nullopt).add(name, group, "data", call, std::move(after));
}

}  // namespace equarx::steps
