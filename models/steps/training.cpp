#include "models/steps/training.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/steps/training_buffers.hpp"
#include "models/steps/training_operations.hpp"

namespace equarx::steps {
namespace {

using collectives::Collective;
using workloads::Operation;
using workloads::Transformer;

std::uint64_t whole(double number) { return static_cast<std::uint64_t>(std::llround(number)); }

std::vector<Operation> joined(std::vector<Operation> first, const std::vector<Operation>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Builds the tasks in the execution order of each stream.
class Builder {
 public:
  Builder(const Training& training, const Mesh& mesh)
      : training_(training),
        mesh_(mesh),
        degrees_(degrees(mesh)),
        first_(training_operations(training, degrees_)),
        later_(training_operations(training, degrees_, Casts::cached)),
        rows_(sequences_of_chip(training, degrees_) * static_cast<double>(training.sequence)),
        all_pairs_(pairs_ratio(training)),
        buffers_(training, degrees_, graph_) {
    graph_.streams = {"core"};
  }

  StepGraph build() && {
    if (training_.distributed_optimizer) gather_updated();
    for (microbatch_ = 0; microbatch_ < training_.microbatches; ++microbatch_) {
      forward_pass();
      backward_pass();
    }
    const TaskId optimizer =
        compute("optimizer", "optimizer", first_.optimizer, Model::none, gradients_);
    buffers_.add_states({0, optimizer}, {first_backward_, optimizer});
    validate(graph_);
    return std::move(graph_);
  }

 private:
  enum class Model : bool { none, counts };  ///< whether FLOPs count as model FLOPs
  enum class Pass : bool { forward, backward };
  using TaskIds = std::vector<TaskId>;

  std::uint32_t layers() const { return training_.model.layers; }

  const TrainingOperations& of_microbatch() const { return microbatch_ == 0 ? first_ : later_; }

  workloads::LayerKind kind_of(std::uint32_t layer) const {
    return workloads::layer_kind(training_.model, layer);
  }

  const LayerTraining& of_layer(std::uint32_t layer) const {
    return of_microbatch().layer(kind_of(layer));
  }

  static double pairs_ratio(const Training& training) {
    const auto positions = static_cast<double>(training.sequence);
    const workloads::Extent extent{positions, positions, 1.0};
    return workloads::score_pairs(training.model, extent, {.fused = true}, false) /
           workloads::score_pairs(training.model, extent, training.attention, false);
  }

  std::string numbered(const std::string& what, std::optional<std::uint32_t> layer = {}) const {
    std::string name = what;
    if (layer) name += fmt::format(" {}", *layer);
    if (training_.microbatches > 1) name += fmt::format(" of microbatch {}", microbatch_);
    return name;
  }

  /// The id of the next task.
  TaskId next() const { return static_cast<TaskId>(graph_.tasks.size()); }

  /// The first task when there is room. `freed`: the task that makes it, or kNoTask.
  static TaskId after(TaskId freed) { return freed == kNoTask ? 0 : freed + 1; }

  TaskId add(Task task) {
    std::erase(task.after, kNoTask);
    graph_.tasks.push_back(std::move(task));
    return next() - 1;
  }

  TaskId compute(const std::string& name, const std::string& group,
                 const std::vector<Operation>& operations, Model model, TaskIds after) {
    Computation work{.operations = operations};
    if (model == Model::counts)
      for (const Operation& operation : operations) {
        if (operation.kind == workloads::OperationKind::vector) continue;  // masks of experts
        work.model_flops += operation.flops * (operation.kind == workloads::OperationKind::attention
                                                   ? all_pairs_ * counted_products(operation)
                                                   : 1.0);
      }
    return add({name, group, 0, std::move(work), std::move(after)});
  }

  /// Weight of attention in model FLOPs: backward GEMMs count as twice the forward ones, whatever
  /// the kernel does.
  static double counted_products(const Operation& operation) {
    constexpr double kCounted = 4.0;
    return operation.name == "attention_gradient" ? kCounted / workloads::kBackwardProducts : 1.0;
  }

  /// Returns kNoTask if the axis has one chip.
  TaskId communicate(const std::string& name, const std::string& group, const std::string& on,
                     Collective collective, const std::string& axis, double elements, TaskIds after,
                     numerics::ElementFormat dtype = numerics::ElementFormat::bf16) {
    if (mesh_.length(axis) == 1) return kNoTask;
    const CollectiveCall call{.collective = collective,
                              .axes = {*mesh_.find(axis)},
                              .elements = whole(elements),
                              .dtype = dtype};
    return add({name, group, stream_id(graph_, on), call, std::move(after)});
  }

  /// Gathers over "data" the weights updated in the previous step, in the order in which the
  /// forward pass needs them, in groups of `buckets` layers. These tasks have no dependencies.
  void gather_updated() {
    const std::uint32_t tables = training_.model.tied_embeddings ? 1 : 2;
    const std::uint32_t parts = layers() + tables;
    for (std::uint32_t first = 0; first < parts; first += training_.buckets) {
      const std::uint32_t end = std::min(first + training_.buckets, parts);
      double weights = 0.0;
      for (std::uint32_t part = first; part < end; ++part) weights += weights_in(part);
      const TaskId gathered =
          communicate(fmt::format("gather updated {} to {}", part_name(first), part_name(end - 1)),
                      "gather updated weights", "data", Collective::all_gather, "data",
                      weights / degrees_.fsdp, {});
      updated_.insert(updated_.end(), end - first, gathered);
    }
    if (training_.model.tied_embeddings) updated_.push_back(updated_.front());
  }

  /// Parts of the weights: embedding, layers, head.
  bool is_table(std::uint32_t part) const { return part == 0 || part > layers(); }
  double weights_in(std::uint32_t part) const {
    return is_table(part) ? table_weights(training_.model, degrees_)
                          : layer_weights(training_.model, kind_of(part - 1), degrees_);
  }
  std::string part_name(std::uint32_t part) const {
    if (is_table(part)) return part == 0 ? "embedding" : "head";
    return fmt::format("layer {}", part - 1);
  }

  /// Gathers the weights of a part before its forward pass. `freed`: task after which there is
  /// room.
  TaskId weights_of(std::uint32_t part, const std::string& name, TaskId freed) {
    const bool waits = microbatch_ == 0 && !updated_.empty();
    const TaskId updated = waits ? updated_[part] : kNoTask;
    const TaskId gathered = gather(name, weights_in(part), freed, updated);
    return gathered == kNoTask ? updated : gathered;
  }

  /// Gathers the weights of a layer or table over "fsdp" before a pass.
  TaskId gather(const std::string& what, double weights, TaskId freed, TaskId updated = kNoTask) {
    return communicate("gather " + what, "gather weights", "gather", Collective::all_gather, "fsdp",
                       weights, {freed, updated});
  }

  /// Scatters gradients over "fsdp" and, after the last microbatch, reduces them over "data".
  void reduce(const std::string& what, double weights, TaskId made) {
    const TaskId scattered =
        communicate("scatter " + what, "scatter gradients", "scatter", Collective::reduce_scatter,
                    "fsdp", weights, {made}, training_.gradient_dtype);
    const TaskId own = scattered == kNoTask ? made : scattered;
    if (microbatch_ + 1 < training_.microbatches || mesh_.length("data") == 1) {
      gradients_.push_back(own);
      return;
    }
    bucket_.push_back(own);
    bucket_weights_ += weights / degrees_.fsdp;
    if (bucket_.size() >= training_.buckets) sum_bucket(what);
  }

  void sum_bucket(const std::string& what) {
    if (bucket_.empty()) return;
    const Collective collective =
        training_.distributed_optimizer ? Collective::reduce_scatter : Collective::all_reduce;
    gradients_.push_back(communicate("sum gradients to " + what, "sum gradients", "data",
                                     collective, "data", std::exchange(bucket_weights_, 0.0),
                                     std::exchange(bucket_, {}), training_.gradient_dtype));
  }

  /// A pass of a layer: two halves, each followed by the communication of tensor parallelism.
  TaskId pass(Pass which, const std::string& name, const LayerWork& work, TaskIds after) {
    const std::string group = which == Pass::forward ? "forward" : "backward";
    const bool forward = which == Pass::forward;
    if (degrees_.tensor == 1)
      return compute(name, group,
                     forward ? joined(work.attention, work.ffn) : joined(work.ffn, work.attention),
                     Model::counts, std::move(after));
    for (const bool ffn : {!forward, forward}) {
      const std::string half = half_of(name, ffn);
      if (training_.sequence_parallel)
        after = {activations("gather positions of " + half, "gather activations", "tensor",
                             Collective::all_gather, after)};
      const TaskId done =
          compute(half, group, ffn ? work.ffn : work.attention, Model::counts, after);
      after = {sum_parts(half, done)};
    }
    return after.front();
  }

  static std::string half_of(const std::string& pass, bool ffn) {
    return fmt::format("{}, {}", pass, ffn ? "FFN" : "attention");
  }

  /// Sums partial results of a tensor group: on every chip, or scattered along the sequence.
  TaskId sum_parts(const std::string& half, TaskId made) {
    if (training_.sequence_parallel)
      return activations("scatter " + half, "scatter activations", "tensor",
                         Collective::reduce_scatter, {made});
    return activations("sum " + half, "sum activations", "tensor", Collective::all_reduce, {made});
  }

  TaskId activations(const std::string& name, const std::string& group, const std::string& on,
                     Collective collective, TaskIds after) {
    return communicate(name, group, on, collective, "tensor", rows_ * training_.model.d_model,
                       std::move(after));
  }

  TaskId transfer(const std::string& name, HostTransfer::Direction direction, std::uint32_t layer,
                  TaskIds after) {
    const double bytes = bytes_of(activation_bytes(training_, kind_of(layer), degrees_),
                                  training_.remat, Keep::offload);
    if (bytes <= 0.0) return kNoTask;
    const bool out = direction == HostTransfer::Direction::to_host;
    return add({name, out ? "offload" : "fetch", stream_id(graph_, out ? "to host" : "from host"),
                HostTransfer{direction, bytes}, std::move(after)});
  }

  /// Returns the task `ahead` layers before the last one, after which there is room; kNoTask if
  /// there are fewer.
  static TaskId tasks_ago(const TaskIds& tasks, std::uint32_t ahead) {
    return tasks.size() > ahead ? tasks[tasks.size() - 1 - ahead] : kNoTask;
  }

  void forward_pass() {
    const TaskId start = after(latest_);
    const TaskId tables = weights_of(0, numbered("embedding"), latest_);
    latest_ = compute(numbered("embedding"), "forward", of_microbatch().embedding, Model::none,
                      {tables, latest_});
    buffers_.add_gathered(weights_in(0), {start, latest_});
    TaskIds ends = {latest_};
    TaskIds offloads;
    starts_.clear();
    for (std::uint32_t i = 0; i < layers(); ++i) {
      const TaskId freed = tasks_ago(ends, training_.prefetch);
      const TaskId weights = weights_of(i + 1, numbered("layer", i) + " forward", freed);
      starts_.push_back(next());
      // Up to `prefetch` layers may be in flight to the host.
      latest_ = pass(Pass::forward, numbered("forward", i), of_layer(i).forward,
                     {weights, latest_, tasks_ago(offloads, training_.prefetch)});
      ends.push_back(latest_);
      buffers_.add_gathered(weights_in(i + 1), {after(freed), latest_});
      buffers_.add_forward(kind_of(i), {starts_.back(), latest_});
      offloads.push_back(
          transfer(numbered("offload", i), HostTransfer::Direction::to_host, i, {latest_}));
    }
    offloads_ = offloads;
    freed_head_ = tasks_ago(ends, training_.prefetch);
    const TaskId head = weights_of(layers() + 1, numbered("head"), freed_head_);
    latest_ =
        compute(numbered("head"), "forward", of_microbatch().head, Model::counts, {head, latest_});
    head_ = latest_;
    ends.push_back(head_);
    // The layer `prefetch` later waits for the transfer.
    for (std::uint32_t i = 0; i < layers(); ++i)
      buffers_.add_offloaded(
          kind_of(i),
          {starts_[i], ends[std::min<std::size_t>(i + 1 + training_.prefetch, ends.size() - 1)]});
  }

  void head_backward() {
    const double table = table_weights(training_.model, degrees_);
    latest_ = recompute(numbered("recompute head"), of_microbatch().head_recompute, {latest_})[0];
    latest_ = compute(numbered("head backward"), "backward", of_microbatch().head_backward,
                      Model::counts, {latest_});
    if (first_backward_ == kNoTask) first_backward_ = latest_;
    buffers_.add_gathered(table, {after(freed_head_), latest_});
    buffers_.add_head({head_, latest_});
    // A table shared with the embedding is reduced after the embedding.
    if (training_.model.tied_embeddings) return;
    buffers_.add_table_gradients(table, {latest_, latest_ + 1});
    reduce(numbered("head"), table, latest_);
  }

  void backward_pass() {
    const double table = table_weights(training_.model, degrees_);
    head_backward();
    const TaskId after_head = latest_;
    TaskIds ends = {head_, latest_};
    for (std::uint32_t i = layers(); i-- > 0;) {
      const TaskId freed = tasks_ago(ends, training_.prefetch);
      const double layer = weights_in(i + 1);
      const TaskId weights = gather(numbered("layer", i) + " backward", layer, freed);
      const TaskId kept = transfer(numbered("fetch", i), HostTransfer::Direction::from_host, i,
                                   {freed, offloads_[i]});
      const TaskId start = next();
      const TaskIds ready = prepare_backward(i, {weights, kept, latest_}, tasks_ago(ends, 1));
      const TaskId backward = next();
      latest_ = pass(Pass::backward, numbered("backward", i), of_layer(i).backward, ready);
      ends.push_back(latest_);
      buffers_.add_gathered(layer, {after(freed), latest_});
      buffers_.add_offloaded(kind_of(i), {after(freed), latest_});
      buffers_.add_kept(kind_of(i), {starts_[i], latest_});
      buffers_.add_backward(kind_of(i), {start, latest_});
      buffers_.add_layer_gradients(layer, {backward, latest_ + 1});
      reduce(numbered("layer", i), layer, latest_);
    }
    latest_ = compute(numbered("embedding backward"), "backward",
                      of_microbatch().embedding_backward, Model::none, {latest_});
    if (training_.model.tied_embeddings)
      buffers_.add_table_gradients(table, {after_head, latest_ + 1});
    else
      buffers_.add_layer_gradients(table, {latest_, latest_ + 1});
    reduce(numbered("embedding"), table, latest_);
    sum_bucket(numbered("embedding") + ", the rest");
  }

  /// Recomputes activations that were not kept and, with sequence parallelism, gathers the inputs
  /// of both halves, as each chip kept only its positions (Korthikanti et al., arXiv 2205.05198,
  /// section 4.2.2). `early`: task after which there is room for them. Returns the dependencies of
  /// the backward pass.
  TaskIds prepare_backward(std::uint32_t layer, TaskIds after, TaskId early) {
    const LayerWork& work = of_layer(layer).recompute;
    const std::string name = numbered("recompute", layer);
    const std::string pass = numbered("backward", layer);
    if (degrees_.tensor == 1)
      return recompute(name, joined(work.attention, work.ffn), std::move(after));
    const bool recomputes_sum = training_.remat.attention_output == Keep::recompute;
    after.push_back(gather_input(half_of(pass, false), early));
    after = recompute(half_of(name, false), work.attention, std::move(after));
    if (recomputes_sum) after.push_back(early = sum_parts(half_of(name, false), after.front()));
    after.push_back(gather_input(half_of(pass, true), early));
    return recompute(half_of(name, true), work.ffn, std::move(after));
  }

  /// Runs on a separate stream, because the kept shards are available early.
  TaskId gather_input(const std::string& half, TaskId early) {
    if (!training_.sequence_parallel) return kNoTask;
    return activations("gather input of " + half, "gather activations", "inputs",
                       Collective::all_gather, {early});
  }

  /// Returns the recompute task, or `after` if nothing is recomputed.
  TaskIds recompute(const std::string& name, const std::vector<Operation>& operations,
                    TaskIds after) {
    if (operations.empty()) return after;
    return {compute(name, "recompute", operations, Model::none, std::move(after))};
  }

  static constexpr TaskId kNoTask = 0xFFFFFFFF;  ///< no task

  const Training& training_;
  const Mesh& mesh_;
  Degrees degrees_;
  TrainingOperations first_;  ///< operations of the first microbatch
  TrainingOperations later_;  ///< operations of later microbatches
  double rows_;               ///< positions per microbatch
  double all_pairs_;          ///< ratio of all query-key pairs to computed ones
  StepGraph graph_;
  std::uint32_t microbatch_ = 0;
  TaskId latest_ = kNoTask;  ///< latest core task
  TaskId head_ = kNoTask;
  TaskId freed_head_ = kNoTask;      ///< task after which the weights of the head are gathered
  TaskId first_backward_ = kNoTask;  ///< of the first microbatch
  TaskIds starts_;                   ///< first tasks of the layers' forward passes
  TaskIds offloads_;                 ///< by layer
  TaskIds updated_;    ///< weight gathers by part; empty without a distributed optimizer
  TaskIds gradients_;  ///< dependencies of the optimizer
  TaskIds bucket_;     ///< gradients not yet reduced over "data"
  double bucket_weights_ = 0.0;
  TrainingBuffers buffers_;
};

}  // namespace

double tokens(const Training& training) {
  return static_cast<double>(training.batch) * static_cast<double>(training.sequence);
}

double model_flops(const Training& training) {
  constexpr double kPasses = 3.0;     // forward, and backward twice as much
  constexpr double kPerWeight = 2.0;  // multiply and add
  constexpr double kAttention = 4.0;  // scores and values, multiply and add
  const Transformer& model = training.model;
  double matrices = static_cast<double>(model.vocabulary) * model.d_model;
  for (const auto& [kind, layers] : workloads::layer_kinds(model))
    matrices += layers * (workloads::active_layer_parameters(model, kind) -
                          workloads::norm_parameters(model));
  const double attention = kAttention / 2.0 * model.layers *
                           static_cast<double>(training.sequence) * model.heads *
                           (model.head_size + model.value_size());
  return kPasses * tokens(training) * (kPerWeight * matrices + attention);
}

StepGraph training_step(const Training& training, const Mesh& mesh) {
  if (training.distributed_optimizer && !mesh.find("data"))
    throw std::invalid_argument(
        "a distributed optimizer is sharded over the mesh axis \"data\", which this mesh lacks; "
        "add the axis, or drop \"distributed_optimizer\"");
  return Builder(training, mesh).build();
}

}  // namespace equarx::steps
