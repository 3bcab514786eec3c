#include "models/steps/training_stage.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace equarx::steps {
namespace {

using workloads::Operation;

/// The first task when there is room. `freed`: the task that makes it, or kNoTask.
TaskId after(TaskId freed) { return freed == kNoTask ? 0 : freed + 1; }

/// Returns the task `ahead` layers before the last one, after which there is room; kNoTask if
/// there are fewer.
TaskId tasks_ago(const TaskIds& tasks, std::uint32_t ahead) {
  return tasks.size() > ahead ? tasks[tasks.size() - 1 - ahead] : kNoTask;
}

bool is_of_weights(const Operation& operation) {
  const std::string_view name = operation.name;
  return name == "weight_gradient" || name == "add_gradients" || name == "sum_tiles";
}

/// The gradients of weights among some operations, or the rest.
Operations selected(Operations operations, bool of_weights) {
  std::erase_if(operations, [&](const Operation& one) { return is_of_weights(one) != of_weights; });
  return operations;
}

LayerWork selected(const LayerWork& work, bool of_weights) {
  LayerWork some;
  for (const auto part : kWorkParts) some.*part = selected(work.*part, of_weights);
  return some;
}

/// All operations, in the order of the backward pass.
Operations backward_operations(const LayerWork& work) {
  Operations all;
  for (auto part = kWorkParts.rbegin(); part != kWorkParts.rend(); ++part) append(all, work.**part);
  return all;
}

/// The update of a share of the weights.
Operations scaled(Operations update, double share) {
  for (Operation& operation : update) {
    operation.vector_ops *= share;
    operation.read_bytes *= share;
    operation.written_bytes *= share;
  }
  return update;
}

bool computes_weights(const PipelineAction& action) {
  return action.kind == ActionKind::backward || action.kind == ActionKind::weight_gradients;
}

}  // namespace

TrainingStage::TrainingStage(const TrainingPlan& plan, StageSetup setup, StepGraph& graph)
    : plan_(plan),
      training_(plan.training),
      setup_(std::move(setup)),
      tasks_(plan, graph, setup_.chips),
      layers_(plan, tasks_),
      weights_(plan, tasks_, setup_.sums),
      buffers_(plan.training, plan.degrees, graph, setup_.chips),
      forwards_(setup_.parts.size()),
      backwards_(setup_.parts.size()),
      weight_passes_(setup_.parts.size()) {}

std::vector<WeightPart> TrainingStage::weight_parts() const {
  std::vector<WeightPart> all;
  for (const ModelPart& part : setup_.parts) {
    if (part.embedding) all.push_back(0);
    for (std::uint32_t layer = part.first; layer < part.end; ++layer) all.push_back(layer + 1);
    const bool shares_table = training_.model.tied_embeddings && part.embedding;
    if (part.head && !shares_table) all.push_back(training_.model.layers + 1);
  }
  return all;
}

// --- Actions

TrainingStage::Flow& TrainingStage::flow_of(const PipelineAction& action) {
  Flow& flow = flows_[{action.microbatch, action.chunk}];
  flow.microbatch = action.microbatch;
  flow.chunk = action.chunk;
  flow.part = setup_.parts[action.chunk];
  return flow;
}

TrainingStage::Writers TrainingStage::writers(const PipelineAction& action, TaskId arrival) {
  Flow& flow = flow_of(action);
  Writers all;
  const auto add = [&](auto write) {
    all.emplace_back([this, &flow, write] {
      write(flow);
      latest_ = flow.latest;
    });
  };
  const auto add_layers = [&](Pass pass) {
    for (const std::vector<LayerPart>& group : layer_parts(flow.part, pass))
      add([group, this](Flow& of) {
        for (const LayerPart& part : group) write(of, part);
      });
  };
  switch (action.kind) {
    case ActionKind::forward:
      add([=, this](Flow& of) { begin_forward(of, arrival); });
      add_layers(Pass::forward);
      add([this](Flow& of) { end_forward(of); });
      break;
    case ActionKind::backward:
    case ActionKind::input_gradients:
      flow.delays_weights = action.kind == ActionKind::input_gradients;
      add([=, this](Flow& of) { begin_backward(of, arrival); });
      add_layers(Pass::backward);
      break;
    case ActionKind::weight_gradients:
      add([this](Flow& of) { head_weights(of); });
      for (std::uint32_t layer = flow.part.end; layer-- > flow.part.first;)
        add([layer, this](Flow& of) { delayed_weights(of, layer); });
      break;
  }
  if (computes_weights(action)) add([this](Flow& of) { end_backward(of); });
  return all;
}

/// Parts of the passes of all layers, in groups that other passes may alternate with. Each but the last
/// ends with an exchange of rows of experts, or with a layer that has none.
std::vector<std::vector<TrainingStage::LayerPart>> TrainingStage::layer_parts(const ModelPart& part,
                                                                              Pass pass) const {
  std::vector<std::vector<LayerPart>> groups(1);
  for (std::uint32_t i = part.first; i < part.end; ++i) {
    const std::uint32_t layer = pass == Pass::forward ? i : part.end - 1 - (i - part.first);
    const std::size_t count = layers_.parts(kind_of(layer));
    for (std::size_t number = 0; number < count; ++number) {
      groups.back().push_back({pass, layer, number, count});
      if (number + 1 < count || count == 1) groups.emplace_back();
    }
  }
  if (groups.back().empty()) groups.pop_back();
  return groups;
}

void TrainingStage::write(Flow& flow, const LayerPart& part) {
  const bool forward = part.pass == Pass::forward;
  if (part.number == 0)
    forward ? begin_forward_layer(flow, part.layer) : begin_backward_layer(flow, part.layer);
  flow.ready = flow.parts[part.number](std::move(flow.ready));
  flow.latest = flow.ready.front();
  if (part.number + 1 == part.count)
    forward ? end_forward_layer(flow, part.layer) : end_backward_layer(flow, part.layer);
}

TaskId TrainingStage::end_of(const PipelineAction& action) const {
  return flows_.at({action.microbatch, action.chunk}).latest;
}

std::string TrainingStage::numbered(const Flow& flow, const std::string& what,
                                    std::optional<std::uint32_t> layer) const {
  std::string name = what;
  if (layer) name += fmt::format(" {}", *layer);
  if (training_.microbatches > 1) name += fmt::format(" of microbatch {}", flow.microbatch);
  return name;
}

const TrainingOperations& TrainingStage::operations(bool first) const {
  return first ? plan_.first : plan_.later;
}

/// Ends of layers before a pass: `own` ones of the same microbatch or, in a pipeline, of any.
TaskIds TrainingStage::seed(TaskIds own) const {
  if (!pipelined()) return own;
  const std::size_t count = std::min<std::size_t>(history_.size(), training_.prefetch + 1);
  return {history_.end() - static_cast<std::ptrdiff_t>(count), history_.end()};
}

void TrainingStage::end_layer(Flow& flow) {
  flow.ends.push_back(flow.latest);
  history_.push_back(flow.latest);
}

TaskId TrainingStage::transfer(const std::string& name, HostTransfer::Direction direction,
                               std::uint32_t layer, TaskIds after) {
  const double bytes = bytes_of(activation_bytes(training_, kind_of(layer), plan_.degrees),
                                training_.remat, Keep::offload);
  if (bytes <= 0.0) return kNoTask;
  const bool out = direction == HostTransfer::Direction::to_host;
  return tasks_.add(name, out ? "offload" : "fetch", out ? "to host" : "from host",
                    HostTransfer{direction, bytes}, std::move(after));
}

workloads::LayerKind TrainingStage::kind_of(std::uint32_t layer) const {
  return workloads::layer_kind(training_.model, layer);
}

// --- Forward pass

void TrainingStage::begin_forward(Flow& flow, TaskId arrival) {
  flow.first_forward = forwards_[flow.chunk]++ == 0;
  flow.room = latest_;
  flow.latest = pipelined() ? arrival : latest_;
  flow.ends = seed({});
  if (flow.part.embedding) {
    const TaskId start = after(flow.room);
    const TaskId table =
        weights_.weights_of(0, numbered(flow, "embedding"), flow.room, flow.first_forward);
    flow.latest = tasks_.compute(numbered(flow, "embedding"), "forward",
                                 operations(flow.first_forward).embedding, ModelFlops::none,
                                 {table, flow.latest});
    buffers_.add_gathered(weights_.weights_in(0).all(), {start, flow.latest});
    end_layer(flow);
  }
  flow.seeded = flow.ends.size();
}

void TrainingStage::begin_forward_layer(Flow& flow, std::uint32_t layer) {
  const LayerTraining& work = operations(flow.first_forward).layer(kind_of(layer));
  const TaskId freed = tasks_ago(flow.ends, training_.prefetch);
  const TaskId weights = weights_.weights_of(layer + 1, numbered(flow, "layer", layer) + " forward",
                                             freed, flow.first_forward);
  flow.starts.push_back(tasks_.next());
  flow.gathered = after(freed);
  flow.parts = layers_.pass(Pass::forward, numbered(flow, "forward", layer), work.forward);
  // Up to `prefetch` layers may be in flight to the host.
  flow.ready = {weights, flow.latest, tasks_ago(flow.offloads, training_.prefetch)};
}

void TrainingStage::end_forward_layer(Flow& flow, std::uint32_t layer) {
  end_layer(flow);
  buffers_.add_gathered(weights_.weights_in(layer + 1).all(), {flow.gathered, flow.latest});
  buffers_.add_forward(kind_of(layer), {flow.starts.back(), flow.latest});
  flow.offloads.push_back(transfer(numbered(flow, "offload", layer),
                                   HostTransfer::Direction::to_host, layer, {flow.latest}));
}

void TrainingStage::end_forward(Flow& flow) {
  if (flow.part.head) {
    flow.freed_head = tasks_ago(flow.ends, training_.prefetch);
    const TaskId head = weights_.weights_of(training_.model.layers + 1, numbered(flow, "head"),
                                            flow.freed_head, flow.first_forward);
    flow.latest =
        tasks_.compute(numbered(flow, "head"), "forward", operations(flow.first_forward).head,
                       ModelFlops::counts, {head, flow.latest});
    flow.head = flow.latest;
    end_layer(flow);
  }
  // The layer `prefetch` later waits for the transfer.
  for (std::size_t i = 0; i < flow.starts.size(); ++i)
    buffers_.add_offloaded(
        kind_of(flow.part.first + static_cast<std::uint32_t>(i)),
        {flow.starts[i],
         flow.ends[std::min(i + flow.seeded + training_.prefetch, flow.ends.size() - 1)]});
}

// --- Backward pass

void TrainingStage::begin_backward(Flow& flow, TaskId arrival) {
  flow.first_backward = backwards_[flow.chunk]++ == 0;
  flow.last_gradients = weight_passes_[flow.chunk] + 1 == setup_.microbatches;
  if (pipelined()) flow.latest = arrival == kNoTask ? flow.head : arrival;
  const TaskIds before = seed({flow.head});
  if (flow.part.head) head_backward(flow);
  flow.after_head = flow.latest;
  flow.ends = before;
  if (flow.part.head) end_layer(flow);
}

void TrainingStage::head_backward(Flow& flow) {
  const TrainingOperations& work = operations(flow.first_backward);
  const double table = table_weights(training_.model, plan_.degrees);
  flow.latest =
      layers_.recompute(numbered(flow, "recompute head"), work.head_recompute, {flow.latest})[0];
  flow.latest =
      tasks_.compute(numbered(flow, "head backward"), "backward",
                     flow.delays_weights ? selected(work.head_backward, false) : work.head_backward,
                     ModelFlops::counts, {flow.latest});
  if (first_backward_ == kNoTask) first_backward_ = flow.latest;
  flow.head_gradients = flow.latest;
  buffers_.add_gathered(table, {after(flow.freed_head), flow.latest});
  if (!flow.delays_weights) reduce_head(flow);
}

/// After the gradients of the head's weights.
void TrainingStage::reduce_head(Flow& flow) {
  const double table = table_weights(training_.model, plan_.degrees);
  buffers_.add_head({flow.head, flow.latest});
  // A table shared with the embedding is reduced after the embedding.
  if (training_.model.tied_embeddings && flow.part.embedding) return;
  buffers_.add_table_gradients(table, {flow.latest, flow.latest + 1});
  reduce(flow, numbered(flow, "head"), {.dense = table});
}

void TrainingStage::begin_backward_layer(Flow& flow, std::uint32_t layer) {
  const LayerTraining& work = operations(flow.first_backward).layer(kind_of(layer));
  const std::uint32_t of_part = layer - flow.part.first;
  const TaskId freed = tasks_ago(flow.ends, training_.prefetch);
  const TaskId weights = weights_.gather(numbered(flow, "layer", layer) + " backward",
                                         weights_.weights_in(layer + 1), freed);
  const TaskId kept = transfer(numbered(flow, "fetch", layer), HostTransfer::Direction::from_host,
                               layer, {freed, flow.offloads[of_part]});
  flow.gathered = after(freed);
  flow.prepared = tasks_.next();
  const std::string name = numbered(flow, "backward", layer);
  flow.ready = layers_.prepare_backward(numbered(flow, "recompute", layer), name, kind_of(layer),
                                        work.recompute, {weights, kept, flow.latest},
                                        tasks_ago(flow.ends, 1));
  flow.backward = tasks_.next();
  const LayerWork& gradients = work.backward;
  flow.parts = layers_.pass(Pass::backward, name,
                            flow.delays_weights ? selected(gradients, false) : gradients);
  if (first_backward_ == kNoTask) first_backward_ = flow.backward;
}

void TrainingStage::end_backward_layer(Flow& flow, std::uint32_t layer) {
  const Weights weights_here = weights_.weights_in(layer + 1);
  end_layer(flow);
  buffers_.add_gathered(weights_here.all(), {flow.gathered, flow.latest});
  buffers_.add_offloaded(kind_of(layer), {flow.gathered, flow.latest});
  buffers_.add_backward(kind_of(layer), {flow.prepared, flow.latest});
  if (flow.delays_weights) {
    flow.delayed.push_back(flow.latest);
    return;
  }
  buffers_.add_kept(kind_of(layer), {flow.starts[layer - flow.part.first], flow.latest});
  buffers_.add_layer_gradients(weights_here.all(), {flow.backward, flow.latest + 1});
  reduce(flow, numbered(flow, "layer", layer), weights_here);
}

/// The rest of a backward pass with all gradients, or of the delayed gradients of weights.
void TrainingStage::end_backward(Flow& flow) {
  if (flow.part.embedding) embedding_gradients(flow);
  ++weight_passes_[flow.chunk];
  const bool all = std::ranges::all_of(
      weight_passes_, [&](std::uint32_t passes) { return passes == setup_.microbatches; });
  if (all)
    weights_.finish(flow.part.embedding ? numbered(flow, "embedding")
                                        : numbered(flow, "layer", flow.part.first));
}

void TrainingStage::embedding_gradients(Flow& flow) {
  const double table = table_weights(training_.model, plan_.degrees);
  flow.latest = tasks_.compute(numbered(flow, "embedding backward"), "backward",
                               operations(flow.first_backward).embedding_backward, ModelFlops::none,
                               {flow.latest});
  history_.push_back(flow.latest);
  if (training_.model.tied_embeddings && flow.part.head)
    buffers_.add_table_gradients(table, {flow.after_head, flow.latest + 1});
  else
    buffers_.add_layer_gradients(table, {flow.latest, flow.latest + 1});
  reduce(flow, numbered(flow, "embedding"), {.dense = table});
}

void TrainingStage::reduce(Flow& flow, const std::string& what, const Weights& weights) {
  weights_.reduce(what, weights, flow.latest, flow.last_gradients);
}

// --- Delayed gradients of weights

void TrainingStage::head_weights(Flow& flow) {
  flow.last_gradients = weight_passes_[flow.chunk] + 1 == setup_.microbatches;
  if (!flow.part.head) return;
  flow.latest = tasks_.compute(numbered(flow, "weight gradients of head"), "backward",
                               selected(operations(flow.first_backward).head_backward, true),
                               ModelFlops::counts, {flow.head_gradients});
  reduce_head(flow);
}

void TrainingStage::delayed_weights(Flow& flow, std::uint32_t layer) {
  const LayerTraining& work = operations(flow.first_backward).layer(kind_of(layer));
  const Operations gradients = backward_operations(selected(work.backward, true));
  const TaskId made = flow.delayed[flow.part.end - 1 - layer];
  flow.latest = tasks_.compute(numbered(flow, "weight gradients", layer), "backward", gradients,
                               ModelFlops::counts, {made});
  history_.push_back(flow.latest);
  const Weights weights_here = weights_.weights_in(layer + 1);
  buffers_.add_delayed(kind_of(layer), {made, flow.latest});
  buffers_.add_kept(kind_of(layer), {flow.starts[layer - flow.part.first], flow.latest});
  buffers_.add_layer_gradients(weights_here.all(), {flow.latest, flow.latest + 1});
  reduce(flow, numbered(flow, "layer", layer), weights_here);
}

// --- End of the step

void TrainingStage::finish(const TaskIds& after) {
  TaskIds ready = weights_.gradients();
  ready.insert(ready.end(), after.begin(), after.end());
  const Weights own = weights_of(training_.model, setup_.parts, plan_.degrees);
  const std::string name =
      pipelined() ? fmt::format("optimizer of stage {}", *setup_.number) : "optimizer";
  const auto updated = [&](const Weights& weights) {
    return updated_weights(weights, plan_.degrees, training_.distributed_optimizer);
  };
  const double share = updated(own) / updated(model_weights(training_.model, plan_.degrees));
  const TaskId optimizer = tasks_.compute(name, "optimizer", scaled(plan_.first.optimizer, share),
                                          ModelFlops::none, std::move(ready));
  buffers_.add_states(own, {0, optimizer}, {first_backward_, optimizer});
}

}  // namespace equarx::steps
