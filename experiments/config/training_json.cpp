#include "experiments/config/training_json.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/pointer.hpp"
#include "experiments/config/expert_json.hpp"
#include "experiments/config/model_json.hpp"
#include "experiments/config/precision_json.hpp"
#include "models/steps/training_operations.hpp"

namespace equarx::config {
namespace {

using steps::Keep;
using steps::Remat;
using steps::Training;

constexpr std::uint64_t kMostSequence = std::uint64_t{1} << 24;
constexpr std::uint64_t kMostBatch = std::uint64_t{1} << 24;
constexpr std::uint64_t kMostLayers = 1024;
constexpr std::uint64_t kMostTiles = 1024;

constexpr input::EnumNames<Keep, 3> kKeeps({
    {Keep::recompute, "recompute"},
    {Keep::kept, "keep"},
    {Keep::offload, "offload"},
});

/// A named rematerialization policy.
struct NamedRemat {
  std::string_view name;
  Remat remat;
};
constexpr std::array kPolicies = {NamedRemat{"none", Remat{}},
                                  NamedRemat{"minimal", steps::kMinimalRemat},
                                  NamedRemat{"full", steps::kFullRemat}};

/// The input of a layer is never recomputed.
struct LayerInput {
  void read(input::ObjectReader& reader, std::string_view key, Keep& keep) const {
    keep = reader.choice(key, kKeeps);
    if (keep == Keep::recompute)
      throw input::InputError(
          reader.pointer_to(key),
          "everything else is recomputed from a layer's input; keep or offload it");
  }
  input::Json write(Keep keep) const { return kKeeps[keep]; }
  input::Json schema() const {
    return input::enum_schema(std::array{kKeeps[Keep::kept], kKeeps[Keep::offload]});
  }
};

const input::Table<Remat>& remat_table() {
  constexpr std::string_view kMeaning = "`\"keep\"`, or `\"offload\"` to host memory";
  static const input::Table<Remat> table{
      {"layer_input", &Remat::layer_input, LayerInput{}, "or `\"offload\"`"},
      {"qkv", &Remat::qkv, input::OneOf{kKeeps}, kMeaning},
      {"attention", &Remat::attention, input::OneOf{kKeeps}, kMeaning},
      {"attention_output", &Remat::attention_output, input::OneOf{kKeeps}, kMeaning},
      {"ffn_in", &Remat::ffn_in, input::OneOf{kKeeps}, kMeaning},
  };
  return table;
}

/// A policy by name, or an object whose missing keys have the values of policy "full".
struct RematPolicy {
  static std::vector<std::string_view> names() {
    std::vector<std::string_view> names;
    for (const NamedRemat& policy : kPolicies) names.push_back(policy.name);
    return names;
  }
  void read(input::ObjectReader& reader, std::string_view key, Remat& remat) const {
    if (reader.required(key, "a policy").is_string()) {
      remat = kPolicies[reader.choice(key, names())].remat;
      return;
    }
    remat = steps::kFullRemat;
    input::Nested{remat_table}.read(reader, key, remat);
  }
  input::Json write(const Remat& remat) const { return remat_table().write(remat); }
  input::Json schema() const {
    return input::one_of({input::enum_schema(names()), remat_table().schema(steps::kFullRemat)});
  }
};

/// A recipe by name, or an object.
struct PrecisionChoice {
  void read(input::ObjectReader& reader, std::string_view, steps::Precision& precision) const {
    precision = read_precision(reader);
  }
  input::Json write(const steps::Precision& precision) const { return precision_json(precision); }
  input::Json schema() const { return precision_schema(); }
};

/// Bytes of a stored gradient; if the key is absent, of a communicated one.
struct GradientBytes {
  void read(input::ObjectReader& reader, std::string_view key, Training& training) const {
    training.gradient_bytes = reader.has(key)
                                  ? reader.positive_number(key)
                                  : numerics::element_bits(training.gradient_dtype) / 8.0;
  }
  void write(const Training& training, std::string_view key, input::Json& json) const {
    json[std::string(key)] = training.gradient_bytes;
  }
  input::Json schema() const { return input::Positive{}.schema(); }
};

const input::Table<workloads::AttentionMethod>& training_attention_table() {
  using workloads::AttentionMethod;
  static const input::Table<AttentionMethod> table{
      {"skips_future", &AttentionMethod::skips_future, input::Flag{}, "skips keys after the query"},
      {"block", &AttentionMethod::block, input::Integer{1, kMostSequence},
       "kernel block size in positions; diagonal blocks are computed whole"},
      {"skips_outside_window", &AttentionMethod::skips_outside_window, input::Flag{},
       "local layers compute only their window"},
  };
  return table;
}

constexpr input::EnumNames<steps::PipelineKind, 5> kSchedules({
    {steps::PipelineKind::gpipe, "gpipe"},
    {steps::PipelineKind::one_forward_one_backward, "1f1b"},
    {steps::PipelineKind::interleaved, "interleaved"},
    {steps::PipelineKind::zero_bubble, "zero-bubble"},
    {steps::PipelineKind::dual_pipe, "dualpipe"},
});
constexpr input::EnumNames<steps::ContextMethod, 3> kContextMethods({
    {steps::ContextMethod::ring, "ring"},
    {steps::ContextMethod::all_gather, "all-gather"},
    {steps::ContextMethod::all_to_all, "all-to-all"},
});
constexpr input::EnumNames<steps::ContextOrder, 2> kContextOrders({
    {steps::ContextOrder::zigzag, "zigzag"},
    {steps::ContextOrder::contiguous, "contiguous"},
});

/// Layers of each part of the model.
struct LayerCounts {
  void read(input::ObjectReader& reader, std::string_view key,
            std::vector<std::uint32_t>& layers) const {
    const input::Json& list = reader.array(key);
    for (std::size_t i = 0; i < list.size(); ++i)
      layers.push_back(static_cast<std::uint32_t>(
          input::read_integer(list[i], reader.pointer_to(key, i), 1, kMostLayers)));
  }
  input::Json write(const std::vector<std::uint32_t>& layers) const { return layers; }
  input::Json schema() const {
    return {{"type", "array"}, {"items", input::Integer{1, kMostLayers}.schema()}};
  }
};

const input::Table<steps::PipelineSetup>& pipeline_table() {
  using steps::PipelineSetup;
  static const input::Table<PipelineSetup> table{
      {"schedule", &PipelineSetup::schedule, input::OneOf{kSchedules},
       "or `\"gpipe\"`, `\"interleaved\"`, `\"zero-bubble\"` (ZB-H1), `\"dualpipe\"`"},
      {"chunks", &PipelineSetup::chunks, input::Integer{1, kMostLayers},
       "parts of the model per stage, with `\"interleaved\"`"},
      {"layers", &PipelineSetup::layers, LayerCounts{},
       "layers of each part of the model, from the first",
       input::otherwise("equal, the first parts with one more")},
      {"activation_dtype", &PipelineSetup::activation_dtype, input::Named{numerics::kTensorFormats},
       "messages between stages: `\"fp32\"`, `\"fp16\"`, `\"fp8-e4m3\"`, `\"fp8-e5m2\"`"},
  };
  return table;
}

const input::Table<Training>& training_table() {
  static const input::Table<Training> table{
      {"model", input::Elsewhere{input::Text{}},
       "built-in model or path of a model file ([workloads.md](workloads.md))", input::kRequired},
      {"sequence", &Training::sequence, input::Integer{1, kMostSequence}, "tokens per sequence",
       input::kRequired},
      {"batch", &Training::batch, input::Integer{1, kMostBatch},
       "sequences per step, over all chips", input::kRequired},
      {"microbatches", &Training::microbatches, input::Integer{1, kMostBatch},
       "sequential parts of the batch"},
      {"remat", &Training::remat, RematPolicy{},
       "kept activations: all, `\"minimal\"` (outputs of weight matmuls), `\"full\"` (layer inputs "
       "only), or an object",
       input::by_default(R"("none")")},
      {"attention", &Training::attention, input::Nested{training_attention_table}, ""},
      {"precision", &Training::precision, PrecisionChoice{},
       "GEMM types: a [recipe](#types-of-products) or an object"},
      {"sequence_parallel", &Training::sequence_parallel, input::Flag{},
       "gathers and scatters along positions instead of AllReduces over `tensor`"},
      {"prefetch", &Training::prefetch, input::Integer{0, kMostLayers},
       "layers gathered or fetched from the host ahead"},
      {"logit_tiles", &Training::logit_tiles, input::Integer{1, kMostTiles},
       "parts of the positions whose logits are computed one after the other, and again in the "
       "backward pass, to save memory (MaxText: `num_vocab_tiling`)"},
      {"buckets", &Training::buckets, input::Integer{1, kMostLayers},
       "layers per gradient reduction over `data`; above the layer count, nothing overlaps"},
      {"distributed_optimizer", &Training::distributed_optimizer, input::Flag{},
       "ZeRO stage 1 over `data`: gradients scattered, weight shards updated, weights gathered in "
       "bf16, by `buckets`"},
      {"sharded_gradients", &Training::sharded_gradients, input::Flag{},
       "ZeRO stage 2: gradients scattered in every microbatch, and only the own shard stored; with "
       "`distributed_optimizer`"},
      {"gradient_dtype", &Training::gradient_dtype, input::Named{numerics::kTensorFormats},
       "communicated gradients: `\"fp32\"`, `\"fp16\"`, `\"fp8-e4m3\"`, `\"fp8-e5m2\"`"},
      {"fused_accumulation", &Training::fused_accumulation, input::Flag{},
       "gradient GEMMs accumulate over microbatches; else, and with `fsdp`, a separate pass"},
      {"transposed_casts", &Training::transposed_casts, input::Flag{},
       "FP8 casts write a transposed copy, as on Hopper"},
      {"prediction_depth", &Training::prediction_depth, input::Integer{0, kMostLayers},
       "further tokens that each position predicts, at most `prediction_layers` of the model"},
      {"pipeline", &Training::pipeline, input::Nested{pipeline_table}, ""},
      {"context", &Training::context, input::OneOf{kContextMethods},
       "attention over `context`: also `\"all-gather\"` (keys and values), `\"all-to-all\"` (heads "
       "instead of positions)"},
      {"positions", &Training::positions, input::OneOf{kContextOrders},
       "of a chip of `context`: an early and a late part, or `\"contiguous\"`, not with "
       "`\"all-to-all\"`"},
      {"weight_bytes", &Training::weight_bytes, input::Positive{}, "per stored weight"},
      {"moment_bytes", &Training::moment_bytes, input::Positive{}, "optimizer state per weight"},
      {"outer_bytes", &Training::outer_bytes, input::Positive{},
       "memory per weight of an outer optimizer, with [`when`](#when-to-communicate): DiLoCo has "
       "8, a "
       "copy of the weights and their momentum in FP32",
       input::otherwise("none")},
      {"gradient_bytes", GradientBytes{}, "per stored gradient",
       input::otherwise("as communicated")},
  };
  return table;
}

void check_sequence(const Training& training, const std::string& pointer) {
  if (training.sequence > training.model.largest_context)
    throw input::InputError(
        pointer, fmt::format("is {}; {} takes 1 to {}", training.sequence, training.model.name,
                             training.model.largest_context));
}

void check_block(const Training& training, const std::string& pointer) {
  const std::uint64_t block =
      input::read_integer(training.attention.block, pointer, 1, training.sequence);
  if (training.sequence % block != 0)
    throw input::InputError(pointer,
                            fmt::format("{} positions cannot be divided into blocks of {}; use a "
                                        "divisor of them",
                                        training.sequence, block));
}

}  // namespace

TrainingConfig read_training(input::ObjectReader reader) {
  TrainingConfig config;
  Training& training = config.training;
  config.model_name = reader.text("model", "the name of a model, like \"llama3-8b\", or a file");
  training.model = load_model(config.model_name, reader.pointer_to("model"));
  training_table().read(reader, training);
  read_experts(reader, training.model, training.experts);
  check_sequence(training, reader.pointer_to("sequence"));
  check_block(training, input::pointer(reader.pointer_to("attention"), "block"));
  reader.finish();
  return config;
}

input::Json training_json(const TrainingConfig& config) {
  input::Json json = {{"model", config.model_name}};
  training_table().write(config.training, json);
  write_experts(config.training.model, config.training.experts, json);
  return json;
}

input::Json training_schema() {
  return input::joined({training_table().schema(), expert_schema()});
}

}  // namespace equarx::config
