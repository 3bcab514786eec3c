#include "models/steps/training_operations.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "models/steps/products.hpp"
#include "models/workloads/operations.hpp"
#include "models/workloads/vector_work.hpp"

namespace equarx::steps {
namespace {

using workloads::kActivationBytes;
using workloads::Operation;
using workloads::OperationKind;

/// Chips that keep a part of the gradients of the same weights.
double dense_parts(const Training& training, const Degrees& degrees) {
  return degrees.dense_shards() *
         (training.sharded_gradients ? static_cast<double>(degrees.dense_replicas()) : 1.0);
}

double expert_parts(const Training& training, const Degrees& degrees) {
  return degrees.fsdp *
         (training.sharded_gradients ? static_cast<double>(degrees.expert_replicas()) : 1.0);
}

/// Sums over microbatches, and over `uses` of the same weights, cover the gradients kept on this chip,
/// one of `parts`; after a scatter, a GEMM cannot accumulate into them.
GradientSum gradient_sum(const Training& training, const Degrees& degrees, double parts,
                         std::uint32_t uses = 1) {
  GradientSum sum{.written_bytes = numerics::element_bits(training.gradient_dtype) / 8.0,
                  .stored_bytes = training.gradient_bytes,
                  .share = 1.0 / parts};
  if (training.microbatches * uses == 1) return sum;
  const bool scattered = degrees.fsdp > 1 || training.sharded_gradients;
  const bool by_product = training.fused_accumulation && !scattered;
  sum.how = by_product ? GradientSum::How::by_product : GradientSum::How::by_pass;
  if (!scattered) sum.written_bytes = kActivationBytes;  // accumulated before it is sent
  return sum;
}

/// Adds the gradients of a microbatch to the sum.
Operation add_gradients(double weights, const GradientSum& sum) {
  const double kept = weights * sum.share;
  Operation operation{.name = "add_gradients", .kind = OperationKind::vector};
  operation.vector_ops = kept * (workloads::kFromBf16 + 1.0);
  operation.read_bytes = kept * (sum.written_bytes + sum.stored_bytes);
  operation.written_bytes = kept * sum.stored_bytes;
  return operation;
}

/// Gradients of a GEMM, followed by their accumulation if a separate pass does it.
Operations with_sum(Operations gradients, const Operation& forward, const GradientSum& sum) {
  if (sum.how == GradientSum::How::by_pass)
    gradients.push_back(add_gradients(forward.weight_bytes / kActivationBytes, sum));
  return gradients;
}

/// Sum of a table's gradients over tiles of logits, in FP32: the product of each tile reads the sum
/// and writes it. The first product writes its own result.
Operation sum_tiles(double weights, std::uint32_t tiles) {
  constexpr double kFp32Bytes = 4.0;
  const double sums = weights * (tiles - 1.0);
  Operation operation{.name = "sum_tiles", .kind = OperationKind::vector};
  operation.vector_ops = sums;
  operation.read_bytes = sums * kFp32Bytes;
  operation.written_bytes = sums * kFp32Bytes;
  return operation;
}

double cast_copies(const Training& training) { return training.transposed_casts ? 2.0 : 1.0; }

/// Backward pass of element-wise work.
Operation elementwise_backward(const Operation& forward) {
  Operation operation = forward;
  operation.name = "elementwise_gradient";
  operation.vector_ops = 2.0 * forward.vector_ops;
  operation.read_bytes = forward.read_bytes + forward.written_bytes;
  operation.written_bytes = forward.read_bytes;
  if (forward.name == "combine") operation.flops *= 2.0;  // of results, and of the mask
  operation.training_flops = operation.flops;
  return operation;
}

/// Half of the layer that an operation belongs to, and the types of its GEMMs.
struct LayerRole {
  bool ffn = false;
  ProductTypes types;
};

/// Part of the pass that an operation belongs to. `exchanges`: of a layer whose experts are divided
Operations LayerWork::*part_of_pass(std::string_view name, bool ffn, bool exchanges) {
  if (!ffn) return &LayerWork::attention;
  if (!exchanges) return &LayerWork::ffn;
  if (name.starts_with("shared")) return &LayerWork::shared;
  if (name.starts_with("experts")) return &LayerWork::experts;
  const bool after = name == "combine" || name == "ffn_residual";
  return after ? &LayerWork::sum : &LayerWork::ffn;
}

bool is_activation(std::string_view name) { return name.ends_with("activation"); }

/// True for the operations between the router and the sum of the results.
bool is_of_experts(std::string_view name) {
  constexpr std::array<std::string_view, 4> kAround = {"routing", "masks", "dispatch", "combine"};
  return std::ranges::find(kAround, name) != kAround.end() || name.starts_with("experts") ||
         name.starts_with("shared");
}

LayerRole role_of(const Operation& operation, const Precision& precision) {
  const std::string_view name = operation.name;
  if (operation.kind == OperationKind::attention) return {false, precision.attention};
  if (name == workloads::kRouter) return {true, {}};
  const bool ffn = name.starts_with("ffn") || is_activation(name) || is_of_experts(name);
  return {ffn, ffn ? precision.ffn : precision.projections};
}

/// True for the last GEMM of an FFN, or the sum of the results of experts: inputs of a post-norm.
bool is_ffn_result(std::string_view name) {
  return name == "ffn_out" || name == "shared_out" || name == "combine";
}

/// True if the backward pass recomputes the result of an operation.
bool is_recomputed(const Operation& operation, const Training& training) {
  const Remat& remat = training.remat;
  constexpr std::array<std::string_view, 5> kQkv = {"qkv", "latent_norm", "queries", "rope",
                                                    "expand"};
  // The results of experts are read by the gradients of their weights in the sum.
  constexpr std::array<std::string_view, 6> kFfnIn = {"ffn_in",   "shared_in",  "masks",
                                                      "dispatch", "experts_in", "experts_out"};
  const std::string_view name = operation.name;
  if (std::ranges::find(kQkv, name) != kQkv.end()) return remat.qkv == Keep::recompute;
  if (operation.kind == OperationKind::attention) return remat.attention == Keep::recompute;
  if (name == "attention_output" || name == "attention_residual")
    return remat.attention_output == Keep::recompute;
  const bool is_read = std::ranges::find(kFfnIn, name) != kFfnIn.end() ||
                       (training.model.post_norms && is_ffn_result(name));
  return is_read && remat.ffn_in == Keep::recompute;
}

/// Parts of the positions that chips of a tensor group keep.
std::uint32_t position_shards(const Training& training, const Degrees& degrees) {
  return training.sequence_parallel ? degrees.tensor : 1;
}

/// All passes of a layer, given its forward operations.
class LayerPasses {
 public:
  LayerPasses(const Operations& operations, const Training& training, const Degrees& degrees,
              Casts weights)
      : training_(training),
        gathered_(degrees.fsdp > 1),
        exchanges_(degrees.expert > 1 && std::ranges::find(operations, workloads::kRouter,
                                                           &Operation::name) != operations.end()),
        position_shards_(position_shards(training, degrees)),
        weights_(weights),
        sum_(gradient_sum(training, degrees, dense_parts(training, degrees))),
        expert_sum_(gradient_sum(training, degrees, expert_parts(training, degrees))) {
    for (const Operation& operation : operations) {
      if (workloads::is_collective(operation.kind)) continue;  // tasks of their own
      add(operation);
    }
    for (const auto part : kWorkParts) std::ranges::reverse(backward.*part);
  }

  LayerWork forward;
  LayerWork recompute;
  LayerWork backward;

 private:
  void add(const Operation& of_group) {
    const LayerRole role = role_of(of_group, training_.precision);
    const auto part = part_of_pass(of_group.name, role.ffn, exchanges_);
    const auto half = [&](LayerWork& work) -> Operations& { return work.*part; };
    // Rows are sent by the chips that have their positions.
    const bool own = exchanges_ && (part == &LayerWork::ffn || part == &LayerWork::sum);
    const Operation operation = own ? workloads::part_of(of_group, position_shards_) : of_group;
    const Operations forward_pass = forward_of(operation, role, weights_);
    append(half(forward), forward_pass);
    if (is_recomputed(operation, training_))
      append(half(recompute),
             forward_of(operation, role, gathered_ ? Casts::uncached : Casts::cached));
    Operations backward_pass = backward_of(operation, role, kept_casts(operation));
    // The result of the activation, input of the last GEMM of the FFN, is never kept: it is
    // recomputed from the result of the first GEMMs.
    if (is_activation(operation.name)) append(backward_pass, forward_pass);
    std::ranges::reverse(backward_pass);  // the constructor reverses the whole pass
    append(half(backward), backward_pass);
  }

  /// Kept activations are bf16, so their casts are available only if everything is kept, or if they
  /// were recomputed.
  KeptCasts kept_casts(const Operation& operation) const {
    const bool recompute = is_recomputed(operation, training_);
    return {.inputs = recompute || training_.remat == Remat{},
            .weights = recompute || !gathered_,
            .backward_weights = weights_ == Casts::cached};
  }

  Operations forward_of(const Operation& operation, const LayerRole& role, Casts weights) const {
    if (operation.kind == OperationKind::matrix)
      return Products(operation, role.types, cast_copies(training_)).forward(weights);
    if (operation.kind == OperationKind::attention)
      return AttentionProducts(operation, role.types).forward();
    Operation other = operation;
    other.training_flops = operation.flops;  // of masks
    return {other};
  }

  Operations backward_of(const Operation& operation, const LayerRole& role, KeptCasts kept) const {
    if (operation.kind == OperationKind::matrix) {
      const Products products(operation, role.types, cast_copies(training_));
      const GradientSum& sum = operation.name.starts_with("experts") ? expert_sum_ : sum_;
      return with_sum(products.backward(kept, sum), operation, sum);
    }
    if (operation.kind == OperationKind::attention)
      return AttentionProducts(operation, role.types).backward(kept);
    return {elementwise_backward(operation)};
  }

  const Training& training_;
  bool gathered_;   ///< weights are gathered again for the backward pass
  bool exchanges_;  ///< experts are divided over chips
  std::uint32_t position_shards_;
  Casts weights_;
  GradientSum sum_;
  GradientSum expert_sum_;
};

/// Logits: rows x vocabulary outputs of d_model inputs.
Operation logits_of(const workloads::Transformer& model, double rows, double vocabulary) {
  Operation logits{.name = "logits", .kind = OperationKind::matrix};
  logits.flops = 2.0 * rows * model.d_model * vocabulary;
  logits.weight_bytes = model.d_model * vocabulary * kActivationBytes;
  logits.read_bytes = rows * model.d_model * kActivationBytes;
  logits.written_bytes = rows * vocabulary * kActivationBytes;
  return logits;
}

Operation loss_of(double rows, double vocabulary, double logit_bytes) {
  Operation loss{.name = "loss", .kind = OperationKind::vector};
  loss.vector_ops =
      rows * vocabulary * (workloads::kFromBf16 + workloads::kSoftmax + workloads::kToBf16);
  loss.read_bytes = rows * vocabulary * logit_bytes;
  loss.written_bytes = loss.read_bytes;
  return loss;
}

/// The norm before the head; nothing in a model without it.
Operations final_norm_of(const workloads::Transformer& model, double rows) {
  if (!model.final_norm) return {};
  return {workloads::elementwise("final_norm", rows * model.d_model, 1.0,
                                 workloads::kNormSum + workloads::kNormScale)};
}

void add_head(const Training& training, double rows, const Degrees& degrees, Casts weights,
              TrainingOperations& operations) {
  const workloads::Transformer& model = training.model;
  const double vocabulary = workloads::shard(model, degrees.tensor).vocabulary;
  const Operation product = logits_of(model, rows, vocabulary);
  const ProductTypes& types = training.precision.head;
  const Products logits(product, types, cast_copies(training));
  operations.head = final_norm_of(model, rows);
  append(operations.head, logits.forward(weights));
  operations.head.push_back(loss_of(rows, vocabulary, result_bytes(types.forward)));
  const KeptCasts kept{
      .inputs = true, .weights = true, .backward_weights = weights == Casts::cached};
  const GradientSum sum = gradient_sum(training, degrees, dense_parts(training, degrees),
                                       1 + training.prediction_depth);
  operations.head_backward = with_sum(logits.backward(kept, sum), product, sum);
  if (training.logit_tiles > 1) {
    operations.head_recompute = logits.forward(Casts::cached);
    operations.head_recompute.push_back(operations.head.back());
    operations.head_backward.push_back(
        sum_tiles(product.weight_bytes / kActivationBytes, training.logit_tiles));
  }
  for (const Operation& norm : final_norm_of(model, rows))
    operations.head_backward.push_back(elementwise_backward(norm));
}

/// Projection of the normalized result of a layer and the normalized embedding of a token, one after
/// the other; over "tensor" by columns.
void add_prediction(const Training& training, double rows, const Degrees& degrees, Casts weights,
                    TrainingOperations& operations) {
  if (training.prediction_depth == 0) return;
  const workloads::Transformer& model = training.model;
  const double inputs = 2.0 * model.d_model;
  const Operation norms = workloads::elementwise("prediction_norms", rows * inputs, 1.0,
                                                 workloads::kNormSum + workloads::kNormScale);
  const Operation product =
      workloads::matrix("prediction",
                        {.rows = rows,
                         .inputs = inputs,
                         .outputs = static_cast<double>(model.d_model) / degrees.tensor},
                        workloads::WeightType::bf16);
  const Products products(product, training.precision.projections, cast_copies(training));
  const GradientSum sum = gradient_sum(training, degrees, dense_parts(training, degrees));
  const KeptCasts kept{
      .inputs = true, .weights = degrees.fsdp == 1, .backward_weights = weights == Casts::cached};
  operations.prediction = operations.embedding;
  operations.prediction.push_back(norms);
  append(operations.prediction, products.forward(weights));
  operations.prediction_backward = with_sum(products.backward(kept, sum), product, sum);
  operations.prediction_backward.push_back(elementwise_backward(norms));
  append(operations.prediction_backward, operations.embedding_backward);
}

/// Adam: two moments, their bias corrections, a square root, a division, weight decay.
Operation optimizer_of(const Training& training, double weights) {
  constexpr double kOps = 14.0;
  Operation update{.name = "optimizer", .kind = OperationKind::vector};
  update.vector_ops = weights * kOps;
  update.read_bytes =
      weights * (training.weight_bytes + training.moment_bytes + training.gradient_bytes);
  update.written_bytes = weights * (training.weight_bytes + training.moment_bytes);
  if (training.distributed_optimizer)  // a bf16 copy to be gathered
    update.written_bytes += weights * kActivationBytes;
  return update;
}

/// Checks the division of positions and heads over "context".
void check_context(const Training& training, const Degrees& degrees) {
  const std::uint32_t chips = degrees.context;
  if (chips == 1) return;
  const bool by_heads = training.context == ContextMethod::all_to_all;
  const bool halves = !by_heads && training.positions == ContextOrder::zigzag;
  const std::uint64_t parts = std::uint64_t{chips} * (halves ? 2 : 1);
  if (training.sequence % parts != 0)
    throw std::invalid_argument(fmt::format(
        "a sequence of {} positions cannot be divided into {} equal parts over \"context\"{}; use "
        "a "
        "multiple of {}",
        training.sequence, parts, halves ? ", an early and a late one per chip" : "", parts));
  if (!by_heads) return;
  const workloads::Shard shard = workloads::shard(training.model, degrees.tensor);
  if (shard.heads % chips != 0 || shard.kv_heads % chips != 0)
    throw std::invalid_argument(
        fmt::format("\"context\": \"all-to-all\" cannot divide {} query and {} key heads of a chip "
                    "over {} chips; "
                    "use a divisor of both, \"ring\" or \"all-gather\"",
                    shard.heads, shard.kv_heads, chips));
}

/// Attention of a layer on the busiest chip of the axis "context".
workloads::Attended attended_by_chip(const Training& training, const Degrees& degrees,
                                     const workloads::Extent& extent, bool local) {
  const double chips = degrees.context;
  const bool by_heads = training.context == ContextMethod::all_to_all;
  workloads::Extent queries = extent;
  const bool last = !by_heads && training.positions == ContextOrder::contiguous;
  if (last) queries.queries /= chips;
  workloads::Attended attended =
      workloads::attended(training.model, queries, training.attention, local);
  if (last) return attended;
  attended.rows /= chips;
  attended.pairs /= chips;
  if (by_heads) attended.fresh /= chips;
  return attended;
}

workloads::Batch batch_of(const Training& training, const Degrees& degrees,
                          const workloads::Extent& extent) {
  workloads::Batch batch{.rows = extent.rows() / degrees.context, .logits = extent.batch};
  batch.local.prompts = attended_by_chip(training, degrees, extent, true);
  batch.global.prompts = attended_by_chip(training, degrees, extent, false);
  return batch;
}

}  // namespace

const LayerTraining& TrainingOperations::layer(workloads::LayerKind kind) const {
  const auto found = std::ranges::find(layers, kind, &LayerTraining::kind);
  if (found == layers.end()) throw std::logic_error("the model has no layer of this kind");
  return *found;
}

bool is_of_weights(const Operation& operation) {
  const std::string_view name = operation.name;
  return name == "weight_gradient" || name == "add_gradients" || name == "sum_tiles";
}

double sequences_of_chip(const Training& training, const Degrees& degrees) {
  const std::uint64_t parts = std::uint64_t{degrees.batch()} * training.microbatches;
  if (training.batch == 0 || training.batch % parts != 0)
    throw std::invalid_argument(fmt::format(
        "a batch of {} sequences cannot be divided into {} microbatches on {} groups of chips "
        "(data {} x fsdp {}{}); use a multiple of {}",
        training.batch, training.microbatches, degrees.batch(), degrees.data, degrees.fsdp,
        degrees.expert > 1 ? fmt::format(" x expert {}", degrees.expert) : "", parts));
  return static_cast<double>(training.batch) / static_cast<double>(parts);
}

double rows_of_chip(const Training& training, const Degrees& degrees) {
  check_context(training, degrees);
  return sequences_of_chip(training, degrees) * static_cast<double>(training.sequence) /
         degrees.context;
}

namespace {

/// Experts have their capacity for each sequence.
workloads::ExpertMethod method_of(const Training& training, const Degrees& degrees) {
  workloads::ExpertMethod method = training.experts;
  method.chips = degrees.expert;
  method.group = static_cast<double>(training.sequence);
  return method;
}

/// Elements of the first half of a feed-forward network and of its inner width.
struct FfnElements {
  double in = 0.0;
  double hidden = 0.0;
  double exchanged = 0.0;  ///< on their way over "expert"
};

FfnElements expert_elements(const Training& training, const Degrees& degrees,
                            const workloads::Shard& shard, double rows) {
  const workloads::Transformer& model = training.model;
  const workloads::ExpertLoad load =
      workloads::expert_load(model, method_of(training, degrees), rows);
  // Rows are received for all positions of a tensor group, their results for those of a chip.
  const double own = degrees.expert > 1 ? position_shards(training, degrees) : 1.0;
  const double masks = training.experts.dispatch == workloads::Dispatch::einsum
                           ? 2.0 * rows * load.capacity / own
                           : 0.0;
  const double hidden = load.rows * shard.expert_ffn + rows * shard.shared_ffn;
  const double rows_and_results = (load.rows + load.rows / own) * model.d_model;
  return {hidden * workloads::inner_matrices(model) + rows_and_results + masks, hidden,
          degrees.expert > 1 ? load.rows * model.d_model : 0.0};
}

FfnElements ffn_elements(const Training& training, const Degrees& degrees,
                         workloads::LayerKind kind, const workloads::Shard& shard, double rows) {
  if (kind.experts) return expert_elements(training, degrees, shard, rows);
  const double hidden = rows * shard.ffn;
  return {hidden * workloads::inner_matrices(training.model), hidden};
}

}  // namespace

double exchanged_rows(const Training& training, const Degrees& degrees) {
  const double rows = rows_of_chip(training, degrees);
  return std::ceil(workloads::expert_load(training.model, method_of(training, degrees), rows).rows /
                   position_shards(training, degrees));
}

ActivationBytes activation_bytes(const Training& training, workloads::LayerKind kind,
                                 const Degrees& degrees) {
  const workloads::Transformer& model = training.model;
  const workloads::Shard shard = workloads::shard(model, degrees.tensor);
  const double rows = rows_of_chip(training, degrees);
  const double bytes = rows * kActivationBytes;
  const double sequence_shards = training.sequence_parallel ? degrees.tensor : 1.0;
  const double queries_and_keys =
      (shard.heads + shard.kv_heads) * static_cast<double>(model.head_size);
  const double value = model.value_size();
  const FfnElements ffn = ffn_elements(training, degrees, kind, shard, rows);
  const double width = bytes * model.d_model / sequence_shards;
  return {.layer_input = width,
          .qkv = bytes * (queries_and_keys + shard.kv_heads * value),
          .attention = bytes * shard.heads * value,
          .attention_output = width,
          .ffn_in = ffn.in * kActivationBytes,
          .ffn_out = model.post_norms ? width : 0.0,
          .exchanged = ffn.exchanged * kActivationBytes,
          .ffn_hidden = ffn.hidden * kActivationBytes};
}

double bytes_of(const ActivationBytes& layer, const Remat& remat, Keep keep) {
  double bytes = 0.0;
  for (const Activation& activation : kActivations)
    if (remat.*activation.keep == keep) bytes += layer.*activation.bytes;
  return bytes;
}

TrainingOperations training_operations(const Training& training, const Degrees& degrees,
                                       Casts weights) {
  workloads::Transformer model = training.model;
  model.weights = workloads::WeightType::bf16;  // gathered in bf16
  const double rows = rows_of_chip(training, degrees);
  const workloads::Prefill prefill{
      .tokens = training.sequence,
      .batch = static_cast<std::uint64_t>(sequences_of_chip(training, degrees))};
  workloads::check_phase(model, prefill);
  const workloads::PhaseOperations phase = workloads::batch_operations(
      model, batch_of(training, degrees, workloads::extent(prefill)), degrees.tensor,
      training.attention, workloads::ResidualPlace::hbm, method_of(training, degrees));
  TrainingOperations operations;
  if (degrees.fsdp > 1) weights = Casts::uncached;  // freed, and gathered again in bf16
  for (const auto& [kind, forward] : phase.layers) {
    const LayerPasses passes(forward, training, degrees, weights);
    operations.layers.push_back({kind, passes.forward, passes.recompute, passes.backward});
  }
  operations.embedding = phase.embedding;
  for (const Operation& operation : phase.embedding)
    operations.embedding_backward.push_back(elementwise_backward(operation));
  add_head(training, rows, degrees, weights, operations);
  add_prediction(training, rows, degrees, weights, operations);
  operations.optimizer = {optimizer_of(
      training, updated_weights(model_weights(model, degrees, training.prediction_depth), degrees,
                                training.distributed_optimizer))};
  return operations;
}

}  // namespace equarx::steps
