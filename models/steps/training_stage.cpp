#include "models/steps/training_stage.hpp"

#include <algorithm>

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
    if (part.head && copies_embedding()) all.push_back(copied_embedding(training_));
    for (std::uint32_t module = 0; part.head && module < training_.prediction_depth; ++module)
      all.push_back(layer_part(training_.model, training_.model.layers + module));
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
  const auto add_layers = [&](std::uint32_t first, std::uint32_t end, Pass pass) {
    for (const std::vector<LayerPart>& group : layer_parts(first, end, pass))
      add([group, this](Flow& of) {
        for (const LayerPart& part : group) write(of, part);
      });
  };
  const std::uint32_t layers = training_.model.layers;
  const std::uint32_t modules = depth(flow);
  switch (action.kind) {
    case ActionKind::forward:
      add([=, this](Flow& of) { begin_forward(of, arrival); });
      add_layers(flow.part.first, flow.part.end, Pass::forward);
      add([this](Flow& of) { end_forward(of); });
      add_layers(layers, layers + modules, Pass::forward);
      if (modules > 0) add([this](Flow& of) { finish_forward(of); });
      break;
    case ActionKind::backward:
    case ActionKind::input_gradients:
      flow.delays_weights = action.kind == ActionKind::input_gradients;
      add([=, this](Flow& of) { begin_backward(of, arrival); });
      add_layers(layers, layers + modules, Pass::backward);
      if (modules > 0) add([this](Flow& of) { begin_layers_backward(of); });
      add_layers(flow.part.first, flow.part.end, Pass::backward);
      break;
    case ActionKind::weight_gradients:
      add([this](Flow& of) { head_weights(of); });
      for (std::uint32_t layer = layers + modules; layer-- > layers;)
        add([layer, this](Flow& of) { delayed_weights(of, layer); });
      for (std::uint32_t layer = flow.part.end; layer-- > flow.part.first;)
        add([layer, this](Flow& of) { delayed_weights(of, layer); });
      break;
  }
  if (computes_weights(action)) add([this](Flow& of) { end_backward(of); });
  return all;
}

/// Parts of the passes of some layers, in groups that other passes may alternate with. Each but the last
/// ends with an exchange of rows of experts, or with a layer that has none.
std::vector<std::vector<TrainingStage::LayerPart>> TrainingStage::layer_parts(std::uint32_t first,
                                                                              std::uint32_t end,
                                                                              Pass pass) const {
  std::vector<std::vector<LayerPart>> groups(1);
  for (std::uint32_t i = first; i < end; ++i) {
    const std::uint32_t layer = pass == Pass::forward ? i : end - 1 - (i - first);
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
  return workloads::layer_kind(training_.model, std::min(layer, training_.model.layers - 1));
}

// --- Modules that predict further tokens

/// Modules after a part of the model.
std::uint32_t TrainingStage::depth(const Flow& flow) const {
  return flow.part.head ? training_.prediction_depth : 0;
}

bool TrainingStage::copies_embedding() const {
  return steps::copies_embedding(training_.model, setup_.parts, training_.prediction_depth);
}

/// Number of a module, from 1; 0 for a layer of the model.
std::uint32_t TrainingStage::module_of(std::uint32_t layer) const {
  return layer < training_.model.layers ? 0 : layer - training_.model.layers + 1;
}

/// Index among the layers and modules of a part.
std::size_t TrainingStage::slot(const Flow& flow, std::uint32_t layer) const {
  if (const std::uint32_t module = module_of(layer))
    return flow.part.end - flow.part.first + module - 1;
  return layer - flow.part.first;
}

std::string TrainingStage::layer_name(const Flow& flow, const std::string& what,
                                      std::uint32_t layer) const {
  if (const std::uint32_t module = module_of(layer))
    return numbered(flow, what + " of prediction", module);
  return numbered(flow, what, layer);
}

/// Joins the results of the layer before with the embeddings of further tokens.
void TrainingStage::begin_prediction(Flow& flow, std::uint32_t layer, TaskId weights) {
  const std::string name = layer_name(flow, "input", layer);
  const TaskId table = weights_.weights_of(
      copies_embedding() ? copied_embedding(training_) : 0, "embedding for " + name,
      tasks_ago(flow.ends, training_.prefetch), flow.first_forward);
  flow.latest = tasks_.compute(name, "forward", operations(flow.first_forward).prediction,
                               ModelFlops::counts, {weights, table, flow.latest});
  buffers_.add_gathered(weights_.weights_in(0).all(), {flow.starts.back(), flow.latest});
  const TaskId gathered = tasks_.communicate("gather " + name, "gather activations", "tensor",
                                             collectives::Collective::all_gather, {"tensor"},
                                             plan_.rows * training_.model.d_model, {flow.latest});
  if (gathered != kNoTask) flow.latest = gathered;
}

void TrainingStage::end_prediction_backward(Flow& flow, std::uint32_t layer) {
  constexpr double kVectors = 2.0;
  const std::string name = layer_name(flow, "input gradients", layer);
  const Operations& gradients = operations(flow.first_backward).prediction_backward;
  flow.latest =
      tasks_.compute(name, "backward", flow.delays_weights ? selected(gradients, false) : gradients,
                     ModelFlops::counts, {flow.latest});
  const TaskId summed = tasks_.communicate(
      "sum " + name, "sum activations", "tensor", collectives::Collective::all_reduce, {"tensor"},
      kVectors * plan_.rows * training_.model.d_model, {flow.latest});
  if (summed != kNoTask) flow.latest = summed;
  buffers_.add_prediction({flow.starts[slot(flow, layer)], flow.latest});
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
  const TaskId weights =
      weights_.weights_of(layer_part(training_.model, layer),
                          layer_name(flow, "layer", layer) + " forward", freed, flow.first_forward);
  flow.starts.push_back(tasks_.next());
  flow.gathered = after(freed);
  if (module_of(layer) > 0) begin_prediction(flow, layer, weights);
  flow.parts = layers_.pass(Pass::forward, layer_name(flow, "forward", layer), work.forward);
  // Up to `prefetch` layers may be in flight to the host.
  flow.ready = {weights, flow.latest, tasks_ago(flow.offloads, training_.prefetch)};
}

void TrainingStage::end_forward_layer(Flow& flow, std::uint32_t layer) {
  end_layer(flow);
  buffers_.add_gathered(weights_.weights_in(layer_part(training_.model, layer)).all(),
                        {flow.gathered, flow.latest});
  buffers_.add_forward(kind_of(layer), {flow.starts.back(), flow.latest});
  flow.offloads.push_back(transfer(layer_name(flow, "offload", layer),
                                   HostTransfer::Direction::to_host, layer, {flow.latest}));
  if (module_of(layer) > 0) add_head(flow, kNoTask);
}

void TrainingStage::end_forward(Flow& flow) {
  flow.heads.clear();
  if (flow.part.head) {
    flow.freed_head = tasks_ago(flow.ends, training_.prefetch);
    add_head(flow, weights_.weights_of(training_.model.layers + 1, numbered(flow, "head"),
                                       flow.freed_head, flow.first_forward));
  }
  if (depth(flow) == 0) finish_forward(flow);
}

/// The head of the next token, or of a further one.
void TrainingStage::add_head(Flow& flow, TaskId weights) {
  flow.latest = tasks_.compute(head_name(flow, "head", flow.heads.size()), "forward",
                               operations(flow.first_forward).head, ModelFlops::counts,
                               {weights, flow.latest});
  flow.heads.push_back(flow.latest);
  end_layer(flow);
}

/// The layer `prefetch` later waits for the transfer of activations.
void TrainingStage::finish_forward(Flow& flow) {
  const std::uint32_t layers = flow.part.end - flow.part.first;
  for (std::uint32_t i = 0; i < flow.starts.size(); ++i) {
    const bool module = i >= layers;  // after the head
    const std::uint32_t layer = module ? training_.model.layers : flow.part.first + i;
    const std::size_t later = i + (module ? 1 + i - layers : 0) + flow.seeded + training_.prefetch;
    buffers_.add_offloaded(kind_of(layer),
                           {flow.starts[i], flow.ends[std::min(later, flow.ends.size() - 1)]});
  }
}

// --- Backward pass

void TrainingStage::begin_backward(Flow& flow, TaskId arrival) {
  flow.first_backward = backwards_[flow.chunk]++ == 0;
  flow.last_gradients = weight_passes_[flow.chunk] + 1 == setup_.microbatches;
  const TaskId head = flow.heads.empty() ? kNoTask : flow.heads.back();
  if (pipelined()) flow.latest = arrival == kNoTask ? head : arrival;
  flow.ends = seed({head});
  if (depth(flow) == 0) begin_layers_backward(flow);
}

void TrainingStage::begin_layers_backward(Flow& flow) {
  if (flow.part.head) head_backward(flow, 0);
  flow.after_head = flow.latest;
  if (flow.part.head) end_layer(flow);
}

std::string TrainingStage::head_name(const Flow& flow, const std::string& what,
                                     std::size_t depth) const {
  if (depth == 0) return numbered(flow, what);
  return numbered(flow, what + " of prediction", static_cast<std::uint32_t>(depth));
}

/// `depth`: 0 for the next token, or the number of a module
void TrainingStage::head_backward(Flow& flow, std::uint32_t depth) {
  const TrainingOperations& work = operations(flow.first_backward);
  const double table = table_weights(training_.model, plan_.degrees);
  flow.latest = layers_.recompute(head_name(flow, "recompute head", depth), work.head_recompute,
                                  {flow.latest})[0];
  flow.latest =
      tasks_.compute(head_name(flow, "head backward", depth), "backward",
                     flow.delays_weights ? selected(work.head_backward, false) : work.head_backward,
                     ModelFlops::counts, {flow.latest});
  if (first_backward_ == kNoTask) first_backward_ = flow.latest;
  flow.head_gradients[depth] = flow.latest;
  if (depth == 0) buffers_.add_gathered(table, {after(flow.freed_head), flow.latest});
  if (!flow.delays_weights) reduce_head(flow, depth);
}

/// After the gradients of the head's weights, which are summed over all predicted tokens.
void TrainingStage::reduce_head(Flow& flow, std::uint32_t depth) {
  const double table = table_weights(training_.model, plan_.degrees);
  buffers_.add_head({flow.heads[depth], flow.latest});
  // A table shared with the embedding is reduced after the embedding.
  if (depth > 0 || (training_.model.tied_embeddings && flow.part.embedding)) return;
  buffers_.add_table_gradients(table, {flow.latest, flow.latest + 1});
  reduce(flow, numbered(flow, "head"), {.dense = table});
}

void TrainingStage::begin_backward_layer(Flow& flow, std::uint32_t layer) {
  const LayerTraining& work = operations(flow.first_backward).layer(kind_of(layer));
  if (const std::uint32_t module = module_of(layer)) head_backward(flow, module);
  const TaskId freed = tasks_ago(flow.ends, training_.prefetch);
  const TaskId weights =
      weights_.gather(layer_name(flow, "layer", layer) + " backward",
                      weights_.weights_in(layer_part(training_.model, layer)), freed);
  const TaskId kept = transfer(layer_name(flow, "fetch", layer), HostTransfer::Direction::from_host,
                               layer, {freed, flow.offloads[slot(flow, layer)]});
  flow.gathered = after(freed);
  flow.prepared = tasks_.next();
  const std::string name = layer_name(flow, "backward", layer);
  flow.ready = layers_.prepare_backward(layer_name(flow, "recompute", layer), name, kind_of(layer),
                                        work.recompute, {weights, kept, flow.latest},
                                        tasks_ago(flow.ends, 1));
  flow.backward = tasks_.next();
  const LayerWork& gradients = work.backward;
  flow.parts = layers_.pass(Pass::backward, name,
                            flow.delays_weights ? selected(gradients, false) : gradients);
  if (first_backward_ == kNoTask) first_backward_ = flow.backward;
}

void TrainingStage::end_backward_layer(Flow& flow, std::uint32_t layer) {
  const Weights weights_here = weights_.weights_in(layer_part(training_.model, layer));
  if (module_of(layer) > 0) end_prediction_backward(flow, layer);
  end_layer(flow);
  buffers_.add_gathered(weights_here.all(), {flow.gathered, flow.latest});
  buffers_.add_offloaded(kind_of(layer), {flow.gathered, flow.latest});
  buffers_.add_backward(kind_of(layer), {flow.prepared, flow.latest});
  if (flow.delays_weights) {
    flow.delayed.push_back(flow.latest);
    return;
  }
  buffers_.add_kept(kind_of(layer), {flow.starts[slot(flow, layer)], flow.latest});
  buffers_.add_layer_gradients(weights_here.all(), {flow.backward, flow.latest + 1});
  reduce(flow, layer_name(flow, "layer", layer), weights_here);
}

/// The rest of a backward pass with all gradients, or of the delayed gradients of weights.
void TrainingStage::end_backward(Flow& flow) {
  if (flow.part.embedding) embedding_gradients(flow);
  if (depth(flow) > 0 && copies_embedding())
    reduce(flow, numbered(flow, "embedding of predictions"),
           {.dense = table_weights(training_.model, plan_.degrees)});
  ++weight_passes_[flow.chunk];
  const bool all = std::ranges::all_of(
      weight_passes_, [&](std::uint32_t passes) { return passes == setup_.microbatches; });
  if (all || training_.sharded_gradients)
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
  for (std::uint32_t module = depth(flow) + 1; module-- > 0;) {
    flow.latest = tasks_.compute(head_name(flow, "weight gradients of head", module), "backward",
                                 selected(operations(flow.first_backward).head_backward, true),
                                 ModelFlops::counts, {flow.head_gradients.at(module)});
    reduce_head(flow, module);
  }
}

void TrainingStage::delayed_weights(Flow& flow, std::uint32_t layer) {
  const LayerTraining& work = operations(flow.first_backward).layer(kind_of(layer));
  Operations gradients = backward_operations(selected(work.backward, true));
  if (module_of(layer) > 0)
    append(gradients, selected(operations(flow.first_backward).prediction_backward, true));
  const TaskId made = flow.delayed[flow.delayed.size() - 1 - slot(flow, layer)];
  flow.latest = tasks_.compute(layer_name(flow, "weight gradients", layer), "backward", gradients,
                               ModelFlops::counts, {made});
  history_.push_back(flow.latest);
  const Weights weights_here = weights_.weights_in(layer_part(training_.model, layer));
  buffers_.add_delayed(kind_of(layer), {made, flow.latest});
  buffers_.add_kept(kind_of(layer), {flow.starts[slot(flow, layer)], flow.latest});
  buffers_.add_layer_gradients(weights_here.all(), {flow.latest, flow.latest + 1});
  reduce(flow, layer_name(flow, "layer", layer), weights_here);
}

// --- End of the step

void TrainingStage::finish(const TaskIds& after) {
  TaskIds ready = weights_.gradients();
  ready.insert(ready.end(), after.begin(), after.end());
  const Weights own =
      weights_of(training_.model, setup_.parts, plan_.degrees, training_.prediction_depth);
  const std::string name =
      pipelined() ? fmt::format("optimizer of stage {}", *setup_.number) : "optimizer";
  const double share = updated_share(training_, setup_.parts, plan_.degrees);
  const TaskId optimizer = tasks_.compute(name, "optimizer", scaled(plan_.first.optimizer, share),
                                          ModelFlops::none, std::move(ready));
  buffers_.add_states(own, {0, optimizer}, {first_backward_, optimizer});
}

}  // namespace equarx::steps
