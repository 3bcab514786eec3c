// What a chip computes in a step of training, part by part.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "models/steps/products.hpp"
#include "models/steps/training.hpp"
#include "models/workloads/operation.hpp"

namespace equarx::steps {

/// A layer, or what is before or behind all layers: its two passes. Where tensor parallelism sums in between, a pass has
/// two halves: attention and FFN.
struct LayerWork {
  std::vector<workloads::Operation> attention;
  std::vector<workloads::Operation> ffn;
};

/// Of one microbatch, on one chip.
struct TrainingOperations {
  LayerWork forward;        ///< of a global layer
  LayerWork again;          ///< what is computed again of it for the backward pass
  LayerWork backward;       ///< likewise of its gradients
  LayerWork local_forward;  ///< of a local layer
  LayerWork local_again;
  LayerWork local_backward;
  std::vector<workloads::Operation> embedding;
  std::vector<workloads::Operation> embedding_backward;
  std::vector<workloads::Operation> head;  ///< final norm, logits of all positions, loss
  std::vector<workloads::Operation> head_backward;
  std::vector<workloads::Operation> optimizer;  ///< of the whole step
};

/// Chips along each way to divide work.
struct Degrees {
  std::uint32_t data = 1;
  std::uint32_t fsdp = 1;
  std::uint32_t tensor = 1;
};

/// Of a mesh. @throws std::invalid_argument for an axis that is none of these
Degrees degrees(const Mesh& mesh);

/// Sequences of one microbatch on one chip. @throws std::invalid_argument if the batch does not divide
double sequences_of_chip(const Training& training, const Degrees& degrees);

/// Weights of one layer on the chips of one tensor group.
double layer_weights(const workloads::Transformer& model, const Degrees& degrees);

/// Likewise of one table of the vocabulary.
double table_weights(const workloads::Transformer& model, const Degrees& degrees);

/// Bytes of an activation of one microbatch on one chip.
struct ActivationBytes {
  double layer_input = 0.0;
  double qkv = 0.0;
  double attention = 0.0;
  double attention_output = 0.0;
  double ffn_in = 0.0;
};

/// An activation that may be kept, offloaded, or computed again.
struct Activation {
  std::string_view name;
  Keep Remat::*keep;
  double ActivationBytes::*bytes;
};
/// All of a layer, in the order in which they are computed.
inline constexpr std::array kActivations = {
    Activation{"layer_input", &Remat::layer_input, &ActivationBytes::layer_input},
    Activation{"qkv", &Remat::qkv, &ActivationBytes::qkv},
    Activation{"attention", &Remat::attention, &ActivationBytes::attention},
    Activation{"attention_output", &Remat::attention_output, &ActivationBytes::attention_output},
    Activation{"ffn_in", &Remat::ffn_in, &ActivationBytes::ffn_in}};

/// See ActivationBytes.
ActivationBytes activation_bytes(const Training& training, const Degrees& degrees);

/// Derived from the model's shape; forward as in inference (models/workloads/operations.hpp), with these rules for the
/// backward pass:
/// - a product with weights has two: the gradients of its input and of its weights, each with as many FLOPs; the first
///   reads the result's gradient and the weights, the second that gradient and the input;
/// - attention has kBackwardProducts for two, and its element-wise work once more with three operations and a cast;
/// - element-wise work reads what it read and the gradient of what it wrote, writes the gradient of what it read, and
///   takes twice its vector operations.
/// `weights`: casts are cached over microbatches (as Transformer Engine does), unless "fsdp" frees what they are of.
/// @throws std::invalid_argument for what cannot be divided
TrainingOperations training_operations(const Training& training, const Degrees& degrees,
                                       Casts weights = Casts::to_be_made);

}  // namespace equarx::steps
