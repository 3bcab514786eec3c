#include "models/steps/training.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

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

/// Builds the tasks in the order in which the streams do them.
class Builder {
 public:
  Builder(const Training& training, const Mesh& mesh)
      : training_(training),
        mesh_(mesh),
        degrees_(degrees(mesh)),
        first_(training_operations(training, degrees_)),
        later_(training_operations(training, degrees_, Casts::cached)),
        bytes_(activation_bytes(training, degrees_)),
        rows_(sequences_of_chip(training, degrees_) * static_cast<double>(training.sequence)),
        all_pairs_(pairs_ratio(training)) {
    graph_.streams = {"core"};
  }

  StepGraph build() && {
    if (training_.distributed_optimizer) gather_updated();
    for (microbatch_ = 0; microbatch_ < training_.microbatches; ++microbatch_) {
      forward_pass();
      backward_pass();
    }
    compute("optimizer", "optimizer", first_.optimizer, Model::none, gradients_);
    validate(graph_);
    return std::move(graph_);
  }

 private:
  enum class Model : bool { none, counts };  ///< whether FLOPs are those that the model asks for
  enum class Pass : bool { forward, backward };
  using Waits = std::vector<TaskId>;

  std::uint32_t layers() const { return training_.model.layers; }

  const TrainingOperations& of_microbatch() const { return microbatch_ == 0 ? first_ : later_; }

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

  TaskId add(Task task) {
    std::erase(task.after, kNothing);
    graph_.tasks.push_back(std::move(task));
    return static_cast<TaskId>(graph_.tasks.size() - 1);
  }

  TaskId compute(const std::string& name, const std::string& group,
                 const std::vector<Operation>& operations, Model model, Waits after) {
    Computation work{.operations = operations};
    if (model == Model::counts)
      for (const Operation& operation : operations)
        work.model_flops += operation.flops * (operation.kind == workloads::OperationKind::attention
                                                   ? all_pairs_ * counted_products(operation)
                                                   : 1.0);
    return add({name, group, 0, std::move(work), std::move(after)});
  }

  /// What the convention counts of attention's backward products: twice the forward's, whatever a kernel does.
  static double counted_products(const Operation& operation) {
    constexpr double kCounted = 4.0;
    return operation.name == "attention_gradient" ? kCounted / kBackwardProducts : 1.0;
  }

  /// Nothing if the axis has one chip only.
  TaskId communicate(const std::string& name, const std::string& group, const std::string& on,
                     Collective collective, const std::string& axis, double elements, Waits after,
                     numerics::ElementFormat dtype = numerics::ElementFormat::bf16) {
    if (mesh_.length(axis) == 1) return kNothing;
    const CollectiveCall call{.collective = collective,
                              .axes = {*mesh_.find(axis)},
                              .elements = whole(elements),
                              .dtype = dtype};
    return add({name, group, stream_id(graph_, on), call, std::move(after)});
  }

  /// What all chips of "data" updated of the weights behind the step before: in the order in which the forward pass needs
  /// them, as many layers together as gradients are summed of. Nothing of it waits.
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

  /// Parts of the weights: the embedding, layers, the head.
  bool is_table(std::uint32_t part) const { return part == 0 || part > layers(); }
  double weights_in(std::uint32_t part) const {
    return is_table(part) ? table_weights(training_.model, degrees_)
                          : layer_weights(training_.model, degrees_);
  }
  std::string part_name(std::uint32_t part) const {
    if (is_table(part)) return part == 0 ? "embedding" : "head";
    return fmt::format("layer {}", part - 1);
  }

  /// Weights of a part before the forward pass needs them. `freed`: what must be over before there is room.
  TaskId weights_of(std::uint32_t part, const std::string& name, TaskId freed) {
    const bool waits = microbatch_ == 0 && !updated_.empty();
    const TaskId updated = waits ? updated_[part] : kNothing;
    const TaskId gathered = gather(name, weights_in(part), freed, updated);
    return gathered == kNothing ? updated : gathered;
  }

  /// Weights of a layer, or of a table, that "fsdp" divides, before a pass needs them.
  TaskId gather(const std::string& what, double weights, TaskId freed, TaskId updated = kNothing) {
    return communicate("gather " + what, "gather weights", "gather", Collective::all_gather, "fsdp",
                       weights, {freed, updated});
  }

  /// Gradients of them: scattered over "fsdp", and behind the last microbatch summed over "data".
  void reduce(const std::string& what, double weights, TaskId made) {
    const TaskId scattered =
        communicate("scatter " + what, "scatter gradients", "scatter", Collective::reduce_scatter,
                    "fsdp", weights, {made}, training_.gradient_dtype);
    const TaskId own = scattered == kNothing ? made : scattered;
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

  /// Two halves with what tensor parallelism sums between them.
  TaskId pass(Pass which, const std::string& name, const LayerWork& work, Waits after) {
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

  /// What the chips of a tensor group made of a result: summed on each of them, or each sums its positions.
  TaskId sum_parts(const std::string& half, TaskId made) {
    if (training_.sequence_parallel)
      return activations("scatter " + half, "scatter activations", "tensor",
                         Collective::reduce_scatter, {made});
    return activations("sum " + half, "sum activations", "tensor", Collective::all_reduce, {made});
  }

  TaskId activations(const std::string& name, const std::string& group, const std::string& on,
                     Collective collective, Waits after) {
    return communicate(name, group, on, collective, "tensor", rows_ * training_.model.d_model,
                       std::move(after));
  }

  double offloaded_bytes() const {
    double bytes = 0.0;
    for (const Activation& activation : kActivations)
      if (training_.remat.*activation.keep == Keep::offload) bytes += bytes_.*activation.bytes;
    return bytes;
  }

  TaskId transfer(const std::string& name, HostTransfer::Direction direction, Waits after) {
    if (offloaded_bytes() <= 0.0) return kNothing;
    const bool out = direction == HostTransfer::Direction::to_host;
    return add({name, out ? "offload" : "fetch", stream_id(graph_, out ? "to host" : "from host"),
                HostTransfer{direction, offloaded_bytes()}, std::move(after)});
  }

  /// The task `ahead` layers before the last of a list, if there is one: what must be over before there is room.
  static TaskId back(const Waits& tasks, std::uint32_t ahead) {
    return tasks.size() > ahead ? tasks[tasks.size() - 1 - ahead] : kNothing;
  }

  void forward_pass() {
    const TaskId tables = weights_of(0, numbered("embedding"), latest_);
    latest_ = compute(numbered("embedding"), "forward", of_microbatch().embedding, Model::none,
                      {tables, latest_});
    Waits ends = {latest_};
    Waits offloads;
    for (std::uint32_t i = 0; i < layers(); ++i) {
      const TaskId weights =
          weights_of(i + 1, numbered("layer", i) + " forward", back(ends, training_.prefetch));
      const bool local = workloads::is_local(training_.model, i);
      // Buffers for what goes to the host: those of `prefetch` layers may be under way.
      latest_ = pass(Pass::forward, numbered("forward", i),
                     local ? of_microbatch().local_forward : of_microbatch().forward,
                     {weights, latest_, back(offloads, training_.prefetch)});
      ends.push_back(latest_);
      offloads.push_back(
          transfer(numbered("offload", i), HostTransfer::Direction::to_host, {latest_}));
    }
    offloads_ = offloads;
    const TaskId head = weights_of(layers() + 1, numbered("head"), back(ends, training_.prefetch));
    latest_ =
        compute(numbered("head"), "forward", of_microbatch().head, Model::counts, {head, latest_});
    head_ = latest_;
  }

  void backward_pass() {
    const double layer = layer_weights(training_.model, degrees_);
    const double table = table_weights(training_.model, degrees_);
    latest_ = compute(numbered("head backward"), "backward", of_microbatch().head_backward,
                      Model::counts, {latest_});
    // A table that is the embedding's too is summed behind that.
    if (!training_.model.tied_embeddings) reduce(numbered("head"), table, latest_);
    Waits ends = {head_, latest_};
    for (std::uint32_t i = layers(); i-- > 0;) {
      const TaskId room = back(ends, training_.prefetch);
      const TaskId weights = gather(numbered("layer", i) + " backward", layer, room);
      const TaskId kept =
          transfer(numbered("fetch", i), HostTransfer::Direction::from_host, {room, offloads_[i]});
      const bool local = workloads::is_local(training_.model, i);
      const Waits after = prepare_again(i, local, {weights, kept, latest_}, back(ends, 1));
      latest_ = pass(Pass::backward, numbered("backward", i),
                     local ? of_microbatch().local_backward : of_microbatch().backward, after);
      ends.push_back(latest_);
      reduce(numbered("layer", i), layer, latest_);
    }
    latest_ = compute(numbered("embedding backward"), "backward",
                      of_microbatch().embedding_backward, Model::none, {latest_});
    reduce(numbered("embedding"), table, latest_);
    sum_bucket(numbered("embedding") + ", the rest");
  }

  /// What the backward pass of a layer needs besides gradients: activations that were not kept, and with sequence
  /// parallelism the inputs of both halves, of which each chip kept its positions (Korthikanti et al., arXiv 2205.05198,
  /// section 4.2.2). `early`: what must be over before there is room for them.
  Waits prepare_again(std::uint32_t layer, bool local, Waits after, TaskId early) {
    const LayerWork& work = local ? of_microbatch().local_again : of_microbatch().again;
    const std::string name = numbered("recompute", layer);
    const std::string pass = numbered("backward", layer);
    if (degrees_.tensor == 1)
      return compute_again(name, joined(work.attention, work.ffn), std::move(after));
    const bool sums_again = training_.remat.attention_output == Keep::again;
    after.push_back(gather_input(half_of(pass, false), early));
    after = compute_again(half_of(name, false), work.attention, std::move(after));
    if (sums_again) after.push_back(early = sum_parts(half_of(name, false), after.front()));
    after.push_back(gather_input(half_of(pass, true), early));
    return compute_again(half_of(name, true), work.ffn, std::move(after));
  }

  /// Beside what the core does: its own stream, because what is kept is there long before.
  TaskId gather_input(const std::string& half, TaskId early) {
    if (!training_.sequence_parallel) return kNothing;
    return activations("gather input of " + half, "gather activations", "inputs",
                       Collective::all_gather, {early});
  }

  /// What to wait for then: the task, or if there is nothing to do `after`.
  Waits compute_again(const std::string& name, const std::vector<Operation>& operations,
                      Waits after) {
    if (operations.empty()) return after;
    return {compute(name, "recompute", operations, Model::none, std::move(after))};
  }

  static constexpr TaskId kNothing = 0xFFFFFFFF;  ///< a task that is not there

  const Training& training_;
  const Mesh& mesh_;
  Degrees degrees_;
  TrainingOperations first_;  ///< of the first microbatch
  TrainingOperations later_;  ///< of those behind it
  ActivationBytes bytes_;     ///< of one layer
  double rows_;               ///< positions of one microbatch
  double all_pairs_;          ///< of queries and keys, to those that are computed
  StepGraph graph_;
  std::uint32_t microbatch_ = 0;
  TaskId latest_ = kNothing;  ///< of the core
  TaskId head_ = kNothing;
  Waits offloads_;   ///< by layer
  Waits updated_;    ///< gathers of weights, by part; none without a distributed optimizer
  Waits gradients_;  ///< what the optimizer waits for
  Waits bucket_;     ///< gradients that are not summed over "data" yet
  double bucket_weights_ = 0.0;
};

}  // namespace

double tokens(const Training& training) {
  return static_cast<double>(training.batch) * static_cast<double>(training.sequence);
}

double model_flops(const Training& training) {
  constexpr double kPasses = 3.0;     // forward, and twice as much backward
  constexpr double kPerWeight = 2.0;  // multiply and add
  constexpr double kAttention = 4.0;  // scores and values, multiply and add
  const Transformer& model = training.model;
  const double matrices =
      model.layers * (workloads::layer_parameters(model) - workloads::norm_parameters(model)) +
      static_cast<double>(model.vocabulary) * model.d_model;
  const double attention = kAttention * model.layers * static_cast<double>(training.sequence) *
                           model.heads * model.head_size;
  return kPasses * tokens(training) * (kPerWeight * matrices + attention);
}

StepGraph training_step(const Training& training, const Mesh& mesh) {
  if (training.distributed_optimizer && !mesh.find("data"))
    throw std::invalid_argument(
        "a distributed optimizer is divided over the mesh axis \"data\", and the mesh has none; "
        "add it, or leave \"distributed_optimizer\" out");
  return Builder(training, mesh).build();
}

}  // namespace equarx::steps
