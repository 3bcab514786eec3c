#include "models/steps/training_buffers.hpp"

#include <algorithm>

#include "models/workloads/transformer.hpp"

namespace equarx::steps {

using workloads::kActivationBytes;
using workloads::LayerKind;

TrainingBuffers::TrainingBuffers(const Training& training, const Degrees& degrees, StepGraph& graph,
                                 std::optional<std::uint32_t> chips)
    : training_(training),
      degrees_(degrees),
      graph_(graph),
      chips_(chips),
      rows_(rows_of_chip(training, degrees)) {
  for (const workloads::KindCount& count : workloads::layer_kinds(training.model))
    layers_.emplace_back(count.kind, activation_bytes(training, count.kind, degrees));
}

void TrainingBuffers::add(BufferUse use, double bytes, TaskRange alive) {
  if (bytes > 0.0) graph_.buffers.push_back({use, bytes, alive.first, alive.last, chips_});
}

void TrainingBuffers::add_states(const Weights& weights, TaskRange step, TaskRange gradients) {
  const double shard = updated_weights(weights, degrees_, false);
  const double updated = updated_weights(weights, degrees_, training_.distributed_optimizer);
  const double copies = training_.distributed_optimizer ? shard * kActivationBytes : 0.0;
  add(BufferUse::weights, updated * training_.weight_bytes + copies, step);
  add(BufferUse::optimizer,
      updated * (training_.moment_bytes + training_.outer_bytes.value_or(0.0)), step);
  add(BufferUse::gradients,
      (training_.sharded_gradients ? updated : shard) * training_.gradient_bytes, gradients);
}

void TrainingBuffers::add_gathered(double weights, TaskRange alive) {
  if (degrees_.fsdp > 1) add(BufferUse::gathered, weights * kActivationBytes, alive);
}

void TrainingBuffers::add_layer_gradients(double weights, TaskRange alive) {
  if (degrees_.fsdp == 1 && !training_.sharded_gradients) return;
  const double layers = training_.sharded_gradients ? training_.buckets : 1.0;
  add(BufferUse::gradients,
      layers * weights * numerics::element_bits(training_.gradient_dtype) / 8.0, alive);
}

void TrainingBuffers::add_table_gradients(double weights, TaskRange alive) {
  constexpr double kSumBytes = 4.0;
  if (training_.logit_tiles == 1) return add_layer_gradients(weights, alive);
  add(BufferUse::gradients, weights * kSumBytes, alive);
}

void TrainingBuffers::add_kept(LayerKind kind, TaskRange alive) {
  add(BufferUse::activations, sum(kind, Keep::kept), alive);
}

void TrainingBuffers::add_offloaded(LayerKind kind, TaskRange alive) {
  add(BufferUse::activations, sum(kind, Keep::offload), alive);
}

void TrainingBuffers::add_forward(LayerKind kind, TaskRange alive) {
  add(BufferUse::activations, forward_bytes(kind) + context_bytes(), alive);
}

void TrainingBuffers::add_backward(LayerKind kind, TaskRange alive) {
  add(BufferUse::activations,
      sum(kind, Keep::recompute) + backward_bytes(kind) + 2.0 * context_bytes(), alive);
}

void TrainingBuffers::add_delayed(LayerKind kind, TaskRange alive) {
  const ActivationBytes& own = layer(kind);
  const double gradients = 2.0 * own.layer_input + own.qkv + own.ffn_in;
  add(BufferUse::activations, sum(kind, Keep::recompute) + own.ffn_hidden + gradients, alive);
}

void TrainingBuffers::add_prediction(TaskRange alive) {
  constexpr double kVectors = 2.0;
  add(BufferUse::activations, kVectors * rows_ * training_.model.d_model * kActivationBytes, alive);
}

void TrainingBuffers::add_head(TaskRange alive) {
  const double result_and_norm = training_.model.final_norm ? 2.0 : 1.0;
  const double vocabulary = workloads::shard(training_.model, degrees_.tensor).vocabulary;
  add(BufferUse::logits,
      rows_ * vocabulary * result_bytes(training_.precision.head.forward) / training_.logit_tiles,
      alive);
  add(BufferUse::activations, result_and_norm * rows_ * training_.model.d_model * kActivationBytes,
      alive);
}

const ActivationBytes& TrainingBuffers::layer(LayerKind kind) const {
  return std::ranges::find(layers_, kind, &std::pair<LayerKind, ActivationBytes>::first)->second;
}

/// Activations of a layer that are treated alike.
double TrainingBuffers::sum(LayerKind kind, Keep keep) const {
  return bytes_of(layer(kind), training_.remat, keep);
}

/// `bytes` of an activation that no other buffer holds.
double TrainingBuffers::unkept(Keep keep, double bytes) const {
  return keep == Keep::recompute ? bytes : 0.0;
}

/// Normalized input of a half; a model without pre-norms reads the residual stream itself.
double TrainingBuffers::normalized(LayerKind kind) const {
  return training_.model.pre_norms ? layer(kind).layer_input : 0.0;
}

/// Largest of the two halves, with the normalized input of each.
double TrainingBuffers::forward_bytes(LayerKind kind) const {
  const ActivationBytes& sizes = layer(kind);
  // With sequence parallelism: the gathered input of a half and its result before the scatter.
  constexpr double kUnsharded = 2.0;
  const Remat& remat = training_.remat;
  const double width = sizes.layer_input;
  const double half = unkept(remat.attention_output, sizes.attention_output) + normalized(kind);
  const double attention =
      half + unkept(remat.qkv, sizes.qkv) + unkept(remat.attention, sizes.attention);
  const double ffn =
      half + unkept(remat.ffn_in, sizes.ffn_in) + sizes.ffn_hidden + sizes.exchanged + width;
  double bytes = std::max(attention, ffn);
  if (training_.sequence_parallel && degrees_.tensor > 1)
    bytes += kUnsharded * rows_ * training_.model.d_model * kActivationBytes;
  return bytes;
}

/// Keys and values of other chips of the axis "context": the block in use and the next, or all; or
/// queries, keys and values of some heads. Their gradients take as much.
double TrainingBuffers::context_bytes() const {
  constexpr double kBlocks = 2.0;
  if (degrees_.context == 1) return 0.0;
  const ActivationBytes& any = layers_.front().second;  // attention is alike in all layers
  if (training_.context == ContextMethod::all_to_all) return any.qkv;
  return (any.qkv - any.attention) *
         (training_.context == ContextMethod::ring ? kBlocks : degrees_.context);
}

/// The FFN first: its hidden activation and gradients; then attention, when the results of the
/// first GEMMs of the FFN are free again. In both, the normalized input and the gradient of the
/// residual stream; before a post-norm, also the gradient of the result.
double TrainingBuffers::backward_bytes(LayerKind kind) const {
  const ActivationBytes& sizes = layer(kind);
  // With sequence parallelism: inputs of both halves, and the gradient of a result.
  constexpr double kUnsharded = 3.0;
  const double width = sizes.layer_input;
  const double ffn =
      sizes.ffn_hidden + std::max(sizes.ffn_hidden, sizes.ffn_in) + sizes.exchanged + sizes.ffn_out;
  const double attention = sizes.attention + sizes.qkv + width - sizes.ffn_in;
  double bytes = normalized(kind) + width + std::max(ffn, attention);
  if (training_.sequence_parallel && degrees_.tensor > 1)
    bytes += kUnsharded * rows_ * training_.model.d_model * kActivationBytes;
  return bytes;
}

}  // namespace equarx::steps
