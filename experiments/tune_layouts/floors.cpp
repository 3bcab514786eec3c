#include "experiments/tune_layouts/floors.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "models/steps/live_memory.hpp"
#include "models/steps/training_buffers.hpp"
#include "models/steps/weight_tasks.hpp"

namespace equarx::tune_layouts {
namespace {

using collectives::Collective;
using steps::ActionKind;
using steps::ModelPart;
using workloads::Operation;

steps::PipelineShape checked_shape(const steps::Training& training, const steps::Mesh& mesh) {
  const steps::PipelineShape shape{training.pipeline.schedule, mesh.length("pipeline"),
                                   training.microbatches, training.pipeline.chunks};
  if (const std::string error = steps::pipeline_error(shape); !error.empty())
    throw std::invalid_argument(error);
  return shape;
}

bool has_weights(ActionKind kind) {
  return kind == ActionKind::backward || kind == ActionKind::weight_gradients;
}

/// True if an action computes an operation of a backward pass.
bool computes(ActionKind kind, const Operation& operation) {
  if (kind == ActionKind::backward || kind == ActionKind::forward) return true;
  return steps::is_of_weights(operation) == (kind == ActionKind::weight_gradients);
}

/// Actions of a stage as tasks, with the buffers that are alive during them.
class StageMemory {
 public:
  /// `kinds`: of the layers
  StageMemory(const steps::TrainingPlan& plan, const std::vector<workloads::LayerKind>& kinds,
              std::uint32_t stage, steps::StepGraph& graph)
      : plan_(plan),
        kinds_(kinds),
        alike_(std::ranges::all_of(kinds, [&](const auto& kind) { return kind == kinds.front(); })),
        stage_(stage),
        graph_(graph),
        buffers_(plan.training, plan.degrees, graph, stage),
        first_(next()) {}

  /// `parts`: of the model, by chunk. Activations of passes that do not end are alive until the end.
  void add(std::span<const steps::PipelineAction> actions, const std::vector<ModelPart>& parts) {
    for (const steps::PipelineAction& action : actions) {
      const steps::TaskId id = next();
      graph_.tasks.push_back(
          {.name = {}, .group = {}, .work = steps::Computation{}, .after = {}, .chips = stage_});
      if (action.kind != ActionKind::forward && !first_backward_) first_backward_ = id;
      add_layer(action.kind, id);
      const std::pair key{action.microbatch, action.chunk};
      if (action.kind == ActionKind::forward) forward_[key] = id;
      if (action.kind == ActionKind::input_gradients) delayed_[key] = id;
      if (has_weights(action.kind)) end(key, parts[action.chunk], id);
    }
    while (!forward_.empty()) {
      const Key key = forward_.begin()->first;
      end(key, parts[key.second], next() - 1);
    }
  }

  /// Weights, gradients and optimizer state.
  void add_states(const steps::Weights& weights) {
    buffers_.add_states(weights, {first_, next() - 1},
                        {first_backward_.value_or(next() - 1), next() - 1});
  }

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;  ///< microbatch and chunk

  steps::TaskId next() const { return static_cast<steps::TaskId>(graph_.tasks.size()); }

  /// Ends the passes of a microbatch through a part at a task.
  void end(const Key& key, const ModelPart& part, steps::TaskId id) {
    const auto delayed = delayed_.find(key);
    for (std::uint32_t layer = part.first; layer < part.end; ++layer) {
      buffers_.add_kept(kinds_[layer], {forward_.at(key), id});
      if (delayed != delayed_.end()) buffers_.add_delayed(kinds_[layer], {delayed->second, id});
    }
    forward_.erase(key);
    if (delayed != delayed_.end()) delayed_.erase(delayed);
  }

  /// Buffers of the layer in work, if all are alike.
  void add_layer(ActionKind action, steps::TaskId id) {
    if (!alike_ || action == ActionKind::weight_gradients) return;
    buffers_.add_gathered(
        steps::layer_weights(plan_.training.model, kinds_.front(), plan_.degrees).all(), {id, id});
    action == ActionKind::forward ? buffers_.add_forward(kinds_.front(), {id, id})
                                  : buffers_.add_backward(kinds_.front(), {id, id});
  }

  const steps::TrainingPlan& plan_;
  const std::vector<workloads::LayerKind>& kinds_;
  bool alike_;
  std::uint32_t stage_;
  steps::StepGraph& graph_;
  steps::TrainingBuffers buffers_;
  steps::TaskId first_;
  std::optional<steps::TaskId> first_backward_;
  std::map<Key, steps::TaskId> forward_;  ///< passes that have not ended
  std::map<Key, steps::TaskId> delayed_;  ///< likewise, with input gradients
};

}  // namespace

Floors::Floors(const steps::Training& training, const steps::Mesh& mesh,
               const workloads::ComputeRates& rates, CollectiveFloors& collectives)
    : training_(training),
      mesh_(mesh),
      rates_(rates),
      collectives_(collectives),
      plan_(training, mesh),
      shape_(checked_shape(training, mesh)),
      parts_(steps::model_parts(training.model, shape_.parts(), training.pipeline.layers)),
      actions_(steps::pipeline_actions(shape_)) {
  const double positions = plan_.rows * training.model.d_model;
  const auto over_tensor = [&](Collective collective) {
    return collectives_.seconds(mesh, {collective, {"tensor"}, positions});
  };
  before_half_s_ = training.sequence_parallel ? over_tensor(Collective::all_gather) : 0.0;
  after_half_s_ =
      over_tensor(training.sequence_parallel ? Collective::reduce_scatter : Collective::all_reduce);
  // Exchanged rows of experts replace some of these collectives.
  if (plan_.degrees.expert > 1) before_half_s_ = after_half_s_ = 0.0;
}

std::vector<ModelPart> Floors::parts_of(std::uint32_t stage) const {
  std::vector<ModelPart> parts;
  for (std::uint32_t chunk = 0; chunk < shape_.chunks_of_stage(); ++chunk)
    parts.push_back(parts_[steps::part_at(shape_, {stage, chunk})]);
  return parts;
}

std::uint32_t Floors::layers_of(std::uint32_t stage) const {
  std::uint32_t layers = 0;
  for (const ModelPart& part : parts_of(stage)) layers += part.end - part.first;
  return layers;
}

// --- Memory

double Floors::memory_bytes() const {
  std::vector<workloads::LayerKind> kinds;
  for (std::uint32_t layer = 0; layer < training_.model.layers; ++layer)
    kinds.push_back(workloads::layer_kind(training_.model, layer));
  // By then as many microbatches are under way as ever.
  const std::size_t first = 4 * shape_.stages + 2 * shape_.parts() + 8;
  steps::StepGraph graph;
  for (std::uint32_t stage = 0; stage < shape_.stages; ++stage) {
    const std::vector<ModelPart> parts = parts_of(stage);
    StageMemory memory(plan_, kinds, stage, graph);
    const std::span<const steps::PipelineAction> actions = actions_[stage];
    memory.add(actions.first(std::min(first, actions.size())), parts);
    memory.add_states(
        steps::weights_of(training_.model, parts, plan_.degrees, training_.prediction_depth));
  }
  return steps::peak_memory(graph).total();
}

// --- Time

/// The smaller time: the first microbatch may cast operands that later ones use again.
double Floors::seconds(const std::vector<Operation>& first, const std::vector<Operation>& later,
                       ActionKind kind) const {
  const auto sum = [&](const std::vector<Operation>& operations) {
    double seconds = 0.0;
    for (const Operation& operation : operations)
      if (computes(kind, operation)) seconds += workloads::roofline(operation, rates_).seconds;
    return seconds;
  };
  return std::min(sum(first), sum(later));
}

double Floors::layer_s(ActionKind kind, std::uint32_t layer) {
  const workloads::LayerKind of = workloads::layer_kind(training_.model, layer);
  const steps::LayerTraining& first = plan_.first.layer(of);
  const steps::LayerTraining& later = plan_.later.layer(of);
  const auto index = static_cast<std::size_t>(&first - plan_.first.layers.data());
  const auto [known, is_new] = layers_s_.try_emplace({kind, index});
  if (!is_new) return known->second;
  const auto both = [&](steps::LayerWork steps::LayerTraining::*work, ActionKind of_kind) {
    return seconds((first.*work).attention, (later.*work).attention, of_kind) +
           seconds((first.*work).ffn, (later.*work).ffn, of_kind);
  };
  if (kind == ActionKind::forward)
    return known->second = both(&steps::LayerTraining::forward, ActionKind::forward);
  known->second = both(&steps::LayerTraining::backward, kind);
  if (kind != ActionKind::weight_gradients)
    known->second += both(&steps::LayerTraining::recompute, ActionKind::backward);
  return known->second;
}

/// Operations of the embedding and the head.
double Floors::tables_s(ActionKind kind, const ModelPart& part) const {
  const steps::TrainingOperations& first = plan_.first;
  const steps::TrainingOperations& later = plan_.later;
  double sum = 0.0;
  if (kind == ActionKind::forward) {
    if (part.embedding) sum += seconds(first.embedding, later.embedding, kind);
    if (part.head) sum += seconds(first.head, later.head, kind);
    return sum;
  }
  if (part.head) {
    sum += seconds(first.head_backward, later.head_backward, kind);
    if (kind != ActionKind::weight_gradients)
      sum += seconds(first.head_recompute, later.head_recompute, ActionKind::backward);
  }
  if (part.embedding && has_weights(kind))
    sum += seconds(first.embedding_backward, later.embedding_backward, ActionKind::backward);
  return sum;
}

const Floors::Pass& Floors::pass_of(ActionKind kind, std::uint32_t number) {
  const auto [known, is_new] = passes_.try_emplace({kind, number});
  Pass& pass = known->second;
  if (!is_new) return pass;
  const ModelPart& part = parts_[number];
  pass.core_s = tables_s(kind, part);
  for (std::uint32_t layer = part.first; layer < part.end; ++layer)
    pass.core_s += layer_s(kind, layer);
  if (kind == ActionKind::weight_gradients) return pass;
  constexpr double kHalves = 2.0;
  pass.core_s += kHalves * (part.end - part.first) * (before_half_s_ + after_half_s_);
  // Other passes overlap with the collectives at both ends of the layers, unless a table follows.
  const bool forward = kind == ActionKind::forward;
  if (!(forward ? part.embedding : part.head)) pass.before_s = before_half_s_;
  if (!(forward ? part.head : part.embedding && has_weights(kind))) pass.after_s = after_half_s_;
  pass.core_s -= pass.before_s + pass.after_s;
  return pass;
}

std::size_t Floors::message(bool forward, std::uint32_t microbatch, std::uint32_t part) const {
  return (std::size_t{forward} * shape_.microbatches + microbatch) * shape_.parts() + part;
}

/// Adds the next action of a stage. Returns false if it awaits another.
bool Floors::advance(std::uint32_t stage, Stage& state, Sent& sent) {
  const steps::PipelineAction& action = actions_[stage][state.next];
  const std::uint32_t part = steps::part_at(shape_, {stage, action.chunk});
  const bool forward = action.kind == ActionKind::forward;
  const bool messages = action.kind != ActionKind::weight_gradients;
  double ready_s = 0.0;
  if (messages && part != (forward ? 0 : shape_.parts() - 1)) {
    ready_s = sent[message(forward, action.microbatch, part)];
    if (ready_s < 0.0) return false;
  }
  const Pass& pass = pass_of(action.kind, part);
  const double start_s = std::max(state.free_s, messages ? ready_s + pass.before_s : 0.0);
  if (has_weights(action.kind)) state.last_weights_s[action.chunk] = start_s;
  state.free_s = start_s + pass.core_s;
  if (messages && part != (forward ? shape_.parts() - 1 : 0))
    sent[message(forward, action.microbatch, forward ? part + 1 : part - 1)] =
        state.free_s + pass.after_s;
  ++state.next;
  return true;
}

double Floors::time_s() {
  std::vector<Stage> stages(shape_.stages);
  for (Stage& stage : stages) stage.last_weights_s.resize(shape_.chunks_of_stage());
  Sent sent(std::size_t{2} * shape_.parts() * shape_.microbatches, -1.0);
  for (bool advanced = true; advanced;) {
    advanced = false;
    for (std::uint32_t stage = 0; stage < shape_.stages; ++stage)
      while (stages[stage].next < actions_[stage].size() && advance(stage, stages[stage], sent))
        advanced = true;
  }
  double time_s = 0.0;
  for (std::uint32_t stage = 0; stage < shape_.stages; ++stage) {
    const double sums_s = std::ranges::min(stages[stage].last_weights_s) + this->sums_s(stage);
    time_s = std::max(
        {time_s, weights_s(stage), std::max(stages[stage].free_s, sums_s) + optimizer_s(stage)});
  }
  return time_s;
}

double Floors::optimizer_s(std::uint32_t stage) const {
  const double share = steps::updated_share(training_, parts_of(stage), plan_.degrees);
  return share * seconds(plan_.first.optimizer, plan_.first.optimizer, ActionKind::backward);
}

/// Least weights of a layer of any kind, per chip of a tensor group.
steps::Weights Floors::least_layer_weights() const {
  constexpr double kMost = std::numeric_limits<double>::infinity();
  steps::Weights least{.dense = kMost, .experts = kMost};
  for (const workloads::KindCount& count : workloads::layer_kinds(training_.model)) {
    const steps::Weights one = steps::layer_weights(training_.model, count.kind, plan_.degrees);
    least = {std::min(least.dense, one.dense), std::min(least.experts, one.experts)};
  }
  return least;
}

/// Gathers of all layers for both passes, or scatters of their gradients.
double Floors::weights_s(std::uint32_t stage) {
  constexpr double kPasses = 2.0;
  const steps::Weights weights = least_layer_weights();
  const auto over_shards = [&](Collective collective, numerics::ElementFormat dtype) {
    double seconds = 0.0;
    for (const steps::WeightsOverAxes& of : steps::shard_parts(weights, plan_.degrees))
      seconds += collectives_.seconds(mesh_, {collective, of.axes, of.elements, dtype});
    return seconds;
  };
  const double gathers_s =
      kPasses * over_shards(Collective::all_gather, numerics::ElementFormat::bf16);
  const double scatters_s = over_shards(Collective::reduce_scatter, training_.gradient_dtype);
  return layers_of(stage) * static_cast<double>(shape_.microbatches) *
         std::max(gathers_s, scatters_s);
}

double Floors::sums_s(std::uint32_t stage) {
  const std::uint32_t layers = layers_of(stage);
  const std::uint32_t of_bucket = std::min(training_.buckets, layers);
  const Collective collective =
      training_.distributed_optimizer ? Collective::reduce_scatter : Collective::all_reduce;
  double bucket_s = 0.0;
  for (const steps::WeightsOverAxes& part :
       steps::replica_parts(steps::shard_of(least_layer_weights(), plan_.degrees), plan_.degrees))
    bucket_s += collectives_.seconds(
        mesh_, {collective, part.axes, of_bucket * part.elements, training_.gradient_dtype});
  const std::uint32_t whole_buckets = layers / of_bucket;
  return whole_buckets * bucket_s;
}

}  // namespace equarx::tune_layouts
