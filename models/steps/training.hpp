// A step of training a transformer, as a graph of tasks.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/steps/mesh.hpp"
#include "models/steps/pipeline_schedule.hpp"
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
  /// Result of the first GEMMs of the FFN and, if a post-norm reads it, of the last.
  Keep ffn_in = Keep::kept;

  bool operator==(const Remat&) const = default;
};

/// Keeps only the inputs of layers.
inline constexpr Remat kFullRemat{Keep::kept, Keep::recompute, Keep::recompute, Keep::recompute,
                                  Keep::recompute};
/// Keeps results of GEMMs with weights; recomputes attention, like MaxText's policy "minimal" with
/// an attention kernel.
inline constexpr Remat kMinimalRemat{Keep::kept, Keep::kept, Keep::recompute, Keep::kept,
                                     Keep::kept};

/// Division of the layers over the mesh axis "pipeline".
struct PipelineSetup {
  PipelineKind schedule = PipelineKind::one_forward_one_backward;
  std::uint32_t chunks = 1;
  /// Layers of each part of the model; empty: as equal as possible, the first ones with one more.
  std::vector<std::uint32_t> layers = {};
  /// Element type of messages between stages.
  numerics::ElementFormat activation_dtype = numerics::ElementFormat::bf16;

  bool operator==(const PipelineSetup&) const = default;
};

/// Attention of positions that are divided over the mesh axis "context".
enum class ContextMethod : std::uint8_t {
  ring,        ///< keys and values travel around (Liu et al., arXiv 2310.01889)
  all_gather,  ///< keys and values are gathered before (Llama 3, arXiv 2407.21783)
  all_to_all,  ///< heads are divided instead of positions (DeepSpeed Ulysses, arXiv 2309.14509)
};

/// Positions of a chip of the axis "context".
enum class ContextOrder : std::uint8_t {
  zigzag,  ///< an early and a late part of equal size, so that all chips compute equally many pairs
  contiguous,  ///< one part; the last chip attends to the most keys
};

/// Training setup of a model. Mesh axes: "data" (every chip has the whole model), "fsdp" (each chip
/// holds a shard of every weight and gathers the rest when needed), "tensor" (each chip runs a
/// part of every layer), "pipeline" (some layers), "context" (some positions of each sequence;
/// weights as over "data") and "expert" (some of the experts; otherwise as over "data", or with "fsdp"
/// as over it).
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
  /// ZeRO stage 2, with a distributed optimizer: gradients are reduce-scattered in every microbatch
  /// and added to the own shard, the only one stored.
  bool sharded_gradients = false;
  /// Element type of communicated gradients.
  numerics::ElementFormat gradient_dtype = numerics::ElementFormat::bf16;
  /// With several microbatches, the weight-gradient GEMM accumulates into the sum; otherwise a
  /// separate pass does.
  bool fused_accumulation = true;
  /// A cast to FP8 also writes its operand transposed, for the GEMMs of the other pass: FP8 GEMMs
  /// of NVIDIA Hopper take one layout only (Transformer Engine, cast_transpose).
  bool transposed_casts = false;
  /// Multi-token prediction: tokens that each position predicts in addition to the next one.
  std::uint32_t prediction_depth = 0;
  PipelineSetup pipeline = {};
  ContextMethod context = ContextMethod::ring;
  ContextOrder positions = ContextOrder::zigzag;
  double weight_bytes = 4.0;  ///< bytes per stored weight
  double moment_bytes = 8.0;  ///< bytes of optimizer state per weight: two Adam moments in FP32
  /// Bytes per weight of an outer optimizer, which exchanges changes of weights every so many steps.
  std::optional<double> outer_bytes = {};
  double gradient_bytes = 2.0;  ///< bytes per stored gradient
};

/// Model FLOPs of a step, over all chips, counted as in Megatron-LM and MaxText: 6 per position and
/// weight that multiplies it, also if rows of experts are dropped, and attention without skipped keys (Narayanan et al., arXiv 2104.04473,
/// appendix; MaxText, maxtext_utils.calculate_tflops_training_per_device).
double model_flops(const Training& training);

/// Tokens per step.
double tokens(const Training& training);

/// Builds the step of the chips of a mesh. Core tasks are layers. With "fsdp", weights are gathered
/// in bf16 for the forward and for the backward pass of each layer, and its gradients are
/// scattered. With a distributed optimizer, the step begins by gathering the weights updated in the
/// previous step. With "pipeline", the chips of a stage run tasks of their own, and send activations
/// and their gradients to the chips of the next.
/// @throws std::invalid_argument if the model or batch cannot be divided over the mesh; the message
/// names a remedy
StepGraph training_step(const Training& training, const Mesh& mesh);

}  // namespace equarx::steps
