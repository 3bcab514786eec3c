// A step of training a transformer, as a graph of tasks.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/steps/mesh.hpp"
#include "models/steps/precision.hpp"
#include "models/steps/step.hpp"
#include "models/workloads/attention.hpp"
#include "models/workloads/transformer.hpp"

namespace equarx::steps {

/// What becomes of an activation that the backward pass needs.
enum class Keep : std::uint8_t {
  again,    ///< it is computed again
  kept,     ///< it stays in HBM
  offload,  ///< it goes to the host's memory, and comes back
};

/// Rematerialisation: what is kept of each layer for the backward pass. Norms, positions and the activation function
/// are computed again anyway, because they are part of the operations that read what is kept.
struct Remat {
  Keep layer_input = Keep::kept;       ///< d_model for each position; kept or offloaded
  Keep qkv = Keep::kept;               ///< queries, keys and values
  Keep attention = Keep::kept;         ///< its result, before the output projection
  Keep attention_output = Keep::kept;  ///< the output projection's
  Keep ffn_in = Keep::kept;            ///< the result of the first matrices of the FFN

  bool operator==(const Remat&) const = default;
};

/// Only layers' inputs are kept.
inline constexpr Remat kFullRemat{Keep::kept, Keep::again, Keep::again, Keep::again, Keep::again};
/// Results of products with weights are kept; attention is computed again, as MaxText's policy "minimal" has it with a
/// kernel for attention.
inline constexpr Remat kMinimalRemat{Keep::kept, Keep::kept, Keep::again, Keep::kept, Keep::kept};

/// Products of queries, keys and values in the backward pass for two in the forward pass: scores again, and the gradients
/// of probabilities, values, keys and queries (FlashAttention-2, arXiv 2307.08691; the fused backward kernel of splash
/// attention in JAX has the same five).
inline constexpr double kBackwardProducts = 5.0;

/// How a model is trained. Mesh axes: "data" (every chip has the model), "fsdp" (each holds a part of every weight, and
/// gathers the rest when it needs it), "tensor" (each does a part of every layer).
struct Training {
  workloads::Transformer model;
  std::uint64_t sequence = 0;      ///< positions of each sequence
  std::uint64_t batch = 0;         ///< sequences of the whole step
  std::uint32_t microbatches = 1;  ///< one after the other; gradients are summed over them
  Remat remat = {};
  workloads::AttentionMethod attention = {.fused = true, .skips_future = true};
  Precision precision = {};
  /// Tensor parallelism gathers and scatters along positions, instead of summing on every chip.
  bool sequence_parallel = false;
  std::uint32_t prefetch =
      1;  ///< layers whose weights are gathered, or fetched from the host, ahead
  std::uint32_t buckets = 1;  ///< layers whose gradients are summed together over "data", 1 or more
  /// ZeRO's first stage (Rajbhandari et al., arXiv 1910.02054), Megatron-LM's distributed optimizer: gradients are
  /// scattered over "data" instead of summed on every chip; each chip updates its part of the weights, kept in
  /// `weight_bytes`, with the moments of that part only, and all gather the weights in bf16 for the next step.
  bool distributed_optimizer = false;
  numerics::ElementFormat gradient_dtype = numerics::ElementFormat::bf16;  ///< as they are sent
  /// Over several microbatches, the product that makes a gradient adds it to the sum; else a pass of its own does.
  bool fused_accumulation = true;
  /// A cast to FP8 writes its operand a second time, transposed, for the products of the other pass: those of NVIDIA's
  /// Hopper take one layout only (Transformer Engine, cast_transpose).
  bool transposed_casts = false;
  double weight_bytes = 4.0;  ///< of one weight as it is kept
  double moment_bytes =
      8.0;  ///< of the optimizer's state of one weight: two moments of Adam in FP32
  double gradient_bytes = 2.0;  ///< of one gradient as it is kept
};

/// The FLOPs that the model asks for in a step, of all chips, as Megatron-LM and MaxText count them: 6 for each
/// position and each weight that is multiplied, and attention as if no key were skipped (Narayanan et al.,
/// arXiv 2104.04473, appendix; MaxText, maxtext_utils.calculate_tflops_training_per_device).
double model_flops(const Training& training);

/// Tokens of a step.
double tokens(const Training& training);

/// The step on one chip of a mesh. Tasks of the core are those of a layer; with "fsdp" weights are gathered in bf16 for
/// the forward and for the backward pass of each layer, and its gradients are scattered. With a distributed optimizer
/// the step begins with gathering the weights that the step before updated.
/// @throws std::invalid_argument for what cannot be divided over the mesh, with the remedy
StepGraph training_step(const Training& training, const Mesh& mesh);

}  // namespace equarx::steps
