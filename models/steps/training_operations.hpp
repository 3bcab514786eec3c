// Operations that a chip computes in a training step, part by part.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "models/steps/degrees.hpp"
#include "models/steps/products.hpp"
#include "models/steps/training.hpp"
#include "models/workloads/operation.hpp"

namespace equarx::steps {

/// A pass of a layer in two halves, attention and FFN; tensor parallelism communicates after each.
/// If experts are divided over "expert", `ffn` is the work before the dispatch of their rows.
struct LayerWork {
  Operations attention;
  Operations ffn;
  Operations shared;   ///< experts of all tokens, independent of the exchange
  Operations experts;  ///< between dispatch and combine
  Operations sum;      ///< of results, after the combine
};

/// All halves and parts of a pass, in the order of execution.
inline constexpr std::array kWorkParts = {&LayerWork::attention, &LayerWork::ffn,
                                          &LayerWork::shared, &LayerWork::experts, &LayerWork::sum};

/// All passes of a layer of a kind.
struct LayerTraining {
  workloads::LayerKind kind;
  LayerWork forward;
  LayerWork recompute;  ///< recomputed before the backward pass
  LayerWork backward;   ///< gradients
};

/// Operations of one microbatch on one chip.
struct TrainingOperations {
  std::vector<LayerTraining> layers;  ///< of each kind in the model, as workloads::layer_kinds()
  std::vector<workloads::Operation> embedding;
  std::vector<workloads::Operation> embedding_backward;
  std::vector<workloads::Operation> head;  ///< final norm, logits of all positions, loss
  /// Logits computed again for the backward pass; empty without tiles.
  std::vector<workloads::Operation> head_recompute;
  std::vector<workloads::Operation> head_backward;
  /// Look-up, norms and projection before the layer of a module that predicts a further token; empty
  /// without such modules.
  Operations prediction;
  Operations prediction_backward;
  std::vector<workloads::Operation> optimizer;  ///< once per step

  /// Passes of a layer. @throws std::logic_error if the model has no layer of this kind
  const LayerTraining& layer(workloads::LayerKind kind) const;
};

/// Sequences of one microbatch on one chip.
/// @throws std::invalid_argument if the batch does not divide
double sequences_of_chip(const Training& training, const Degrees& degrees);

/// Positions of one microbatch on one chip.
/// @throws std::invalid_argument if the batch or the sequence does not divide
double rows_of_chip(const Training& training, const Degrees& degrees);

/// Rows that a chip of the mesh axis "expert" sends to others and itself, and receives, in a layer:
/// all as many as the busiest.
double exchanged_rows(const Training& training, const Degrees& degrees);

/// Bytes per activation of one microbatch on one chip.
struct ActivationBytes {
  double layer_input = 0.0;
  double qkv = 0.0;
  double attention = 0.0;
  double attention_output = 0.0;
  /// With experts also their rows, results and masks.
  double ffn_in = 0.0;
  /// Result of the FFN if a post-norm reads it, treated as `ffn_in`.
  double ffn_out = 0.0;
  /// Rows of experts on their way over "expert", in addition to the ones in ffn_in.
  double exchanged = 0.0;
  /// Result of the activation function: input of the last GEMM of the FFN, always recomputed.
  double ffn_hidden = 0.0;
};

/// An activation that may be kept, offloaded or recomputed.
struct Activation {
  std::string_view name;
  Keep Remat::*keep;
  double ActivationBytes::*bytes;
};
/// All activations of a layer, in the order in which they are computed.
inline constexpr std::array kActivations = {
    Activation{"layer_input", &Remat::layer_input, &ActivationBytes::layer_input},
    Activation{"qkv", &Remat::qkv, &ActivationBytes::qkv},
    Activation{"attention", &Remat::attention, &ActivationBytes::attention},
    Activation{"attention_output", &Remat::attention_output, &ActivationBytes::attention_output},
    Activation{"ffn_in", &Remat::ffn_in, &ActivationBytes::ffn_in},
    Activation{"ffn_out", &Remat::ffn_in, &ActivationBytes::ffn_out}};

/// Returns the sizes of the activations of a layer.
ActivationBytes activation_bytes(const Training& training, workloads::LayerKind kind,
                                 const Degrees& degrees);

/// Returns the sum of the activations of a layer that the policy treats in this way.
double bytes_of(const ActivationBytes& layer, const Remat& remat, Keep keep);

/// True for gradients of weights and their sums, which a backward pass may compute later than the others.
bool is_of_weights(const workloads::Operation& operation);

/// Derives the operations from the shape of the model. Forward operations are as in inference
/// (models/workloads/operations.hpp); rules for the backward pass:
/// - a GEMM with weights has two backward GEMMs, the gradients of its input and of its weights,
///   each with the same FLOPs; the first reads the gradient of the result and the weights, the
///   second that gradient and the input;
/// - attention has workloads::kBackwardProducts GEMMs per two forward ones, and its element-wise work again
///   plus three operations and a cast;
/// - element-wise work reads its forward operands and the gradient of its result, writes the
///   gradient of its operands, and takes twice its vector operations;
/// - a product with a mask of experts has one backward product in the dispatch, and two in the
///   combination.
/// @param weights  weight casts are cached over microbatches (as in Transformer Engine), unless
/// "fsdp" frees the weights
/// @throws std::invalid_argument if the model or batch cannot be divided
TrainingOperations training_operations(const Training& training, const Degrees& degrees,
                                       Casts weights = Casts::uncached);

}  // namespace equarx::steps
