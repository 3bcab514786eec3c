// A step of training a transformer, as a graph of tasks.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/steps/mesh.hpp"
#include "models/steps/precision.hpp"
#include "models/steps/step.hpp"
#include "models/workloads/attention.hpp"
#include "models/workloads/experts.hpp"
#include "models/workloads/transformer.hpp"

namespace equarx::steps {

/// Treatment of an activation that the backward pass needs.
enum class Keep : std::uint8_t {
  recompute,  ///< recomputed
  kept,       ///< kept in HBM
  offload,    ///< moved to host memory and fetched back
};

/// Rematerialisation policy: activations of each layer kept for the backward pass. Norms, rotary
/// positions and the activation function are always recomputed, as part of the operations that read
/// the kept activations.
struct Remat {
  Keep layer_input = Keep::kept;       ///< d_model per position; kept or offloaded
  Keep qkv = Keep::kept;               ///< queries, keys and values
  Keep attention = Keep::kept;         ///< result of attention, before the output projection
  Keep attention_output = Keep::kept;  ///< result of the output projection
  Keep ffn_in = Keep::kept;            ///< result of the first GEMMs of the FFN

  bool operator==(const Remat&) const = default;
};

/// Keeps only the inputs of layers.
inline constexpr Remat kFullRemat{Keep::kept, Keep::recompute, Keep::recompute, Keep::recompute,
                                  Keep::recompute};
/// Keeps results of GEMMs with weights; recomputes attention, like MaxText's policy "minimal" with
/// an attention kernel.
inline constexpr Remat kMinimalRemat{Keep::kept, Keep::kept, Keep::recompute, Keep::kept,
                                     Keep::kept};

/// Training setup of a model. Mesh axes: "data" (every chip has the whole model), "fsdp" (each chip
/// holds a shard of every weight and gathers the rest when needed) and "tensor" (each chip runs a
/// part of every layer).
struct Training {
  workloads::Transformer model;
  std::uint64_t sequence = 0;  ///< positions per sequence
  std::uint64_t batch = 0;     ///< sequences per step
  /// Run one after the other, with gradients accumulated over them.
  std::uint32_t microbatches = 1;
  Remat remat = {};
  workloads::AttentionMethod attention = {.fused = true, .skips_future = true};
  workloads::ExpertMethod experts = {};
  Precision precision = {};
  /// Tensor parallelism gathers and scatters activations along the sequence instead of all-reducing
  /// them.
  bool sequence_parallel = false;
  /// Number of layers whose weights are gathered, or fetched from the host, ahead.
  std::uint32_t prefetch = 1;
  /// Parts of the positions whose logits are computed one after the other, at least 1. With several,
  /// the backward pass computes them again, and adds a gradient of the table for each part (MaxText,
  /// num_vocab_tiling).
  std::uint32_t logit_tiles = 1;
  std::uint32_t buckets = 1;  ///< layers per gradient bucket reduced over "data", at least 1
  /// ZeRO stage 1 (Rajbhandari et al., arXiv 1910.02054), Megatron-LM's distributed optimizer:
  /// gradients are reduce-scattered over "data" instead of all-reduced; each chip updates its shard
  /// of the weights, stored in `weight_bytes`, and keeps the optimizer state of that shard only;
  /// all chips gather the weights in bf16 for the next step.
  bool distributed_optimizer = false;
  /// Element type of communicated gradients.
  numerics::ElementFormat gradient_dtype = numerics::ElementFormat::bf16;
  /// With several microbatches, the weight-gradient GEMM accumulates into the sum; otherwise a
  /// separate pass does.
  bool fused_accumulation = true;
  /// A cast to FP8 also writes its operand transposed, for the GEMMs of the other pass: FP8 GEMMs
  /// of NVIDIA Hopper take one layout only (Transformer Engine, cast_transpose).
  bool transposed_casts = false;
  double weight_bytes = 4.0;    ///< bytes per stored weight
  double moment_bytes = 8.0;    ///< bytes of optimizer state per weight: two Adam moments in FP32
  double gradient_bytes = 2.0;  ///< bytes per stored gradient
};

/// Model FLOPs of a step, over all chips, counted as in Megatron-LM and MaxText: 6 per position and
/// weight that multiplies it, also if rows of experts are dropped, and attention without skipped keys (Narayanan et al., arXiv 2104.04473,
/// appendix; MaxText, maxtext_utils.calculate_tflops_training_per_device).
double model_flops(const Training& training);

/// Tokens per step.
double tokens(const Training& training);

/// Builds the step of one chip of a mesh. Core tasks are layers. With "fsdp", weights are gathered
/// in bf16 for the forward and for the backward pass of each layer, and its gradients are
/// scattered. With a distributed optimizer, the step begins by gathering the weights updated in the
/// previous step.
/// @throws std::invalid_argument if the model or batch cannot be divided over the mesh; the message
/// names a remedy
StepGraph training_step(const Training& training, const Mesh& mesh);

}  // namespace equarx::steps
