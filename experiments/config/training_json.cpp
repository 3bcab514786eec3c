#include "experiments/config/training_json.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "experiments/config/model_json.hpp"
#include "experiments/config/precision_json.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "models/steps/training_operations.hpp"

namespace equarx::config {
namespace {

using steps::Keep;
using steps::Remat;

constexpr std::uint64_t kMostSequence = std::uint64_t{1} << 24;
constexpr std::uint64_t kMostBatch = std::uint64_t{1} << 24;
constexpr std::uint64_t kMostLayers = 1024;

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

Remat read_remat(input::ObjectReader& training) {
  if (!training.has("remat")) return {};
  if (training.required("remat", "a policy").is_string()) {
    std::vector<std::string_view> names;
    for (const NamedRemat& policy : kPolicies) names.push_back(policy.name);
    return kPolicies[training.choice("remat", names)].remat;
  }
  Remat remat = steps::kFullRemat;
  input::ObjectReader reader = training.object("remat");
  for (const steps::Activation& activation : steps::kActivations)
    remat.*activation.keep = reader.choice_or(activation.name, kKeeps, remat.*activation.keep);
  if (remat.layer_input == Keep::recompute)
    throw input::InputError(
        reader.pointer_to("layer_input"),
        "everything else is recomputed from a layer's input; keep or offload it");
  reader.finish();
  return remat;
}

double read_bytes(input::ObjectReader& reader, std::string_view key, double fallback) {
  return reader.has(key) ? reader.positive_number(key) : fallback;
}

workloads::AttentionMethod read_attention(input::ObjectReader reader, std::uint64_t sequence) {
  workloads::AttentionMethod method{.fused = true};
  method.skips_future = reader.flag_or("skips_future", true);
  method.skips_outside_window = reader.flag_or("skips_outside_window", false);
  if (reader.has("block")) method.block = reader.integer("block", 1, sequence);
  if (sequence % method.block != 0)
    throw input::InputError(reader.pointer_to("block"),
                            fmt::format("{} positions cannot be divided into blocks of {}; use a "
                                        "divisor of them",
                                        sequence, method.block));
  reader.finish();
  return method;
}

}  // namespace

TrainingConfig read_training(input::ObjectReader reader) {
  TrainingConfig config;
  steps::Training& training = config.training;
  config.model_name = reader.text("model", "the name of a model, like \"llama3-8b\", or a file");
  training.model = load_model(config.model_name, reader.pointer_to("model"));
  training.sequence = reader.integer("sequence", 1, kMostSequence);
  if (training.sequence > training.model.largest_context)
    throw input::InputError(reader.pointer_to("sequence"),
                            fmt::format("is {}; {} takes 1 to {}", training.sequence,
                                        training.model.name, training.model.largest_context));
  training.batch = reader.integer("batch", 1, kMostBatch);
  if (reader.has("microbatches"))
    training.microbatches =
        static_cast<std::uint32_t>(reader.integer("microbatches", 1, kMostBatch));
  training.remat = read_remat(reader);
  if (reader.has("attention"))
    training.attention = read_attention(reader.object("attention"), training.sequence);
  training.precision = read_precision(reader);
  training.sequence_parallel = reader.flag_or("sequence_parallel", false);
  if (reader.has("prefetch"))
    training.prefetch = static_cast<std::uint32_t>(reader.integer("prefetch", 0, kMostLayers));
  if (reader.has("buckets"))
    training.buckets = static_cast<std::uint32_t>(reader.integer("buckets", 1, kMostLayers));
  training.distributed_optimizer = reader.flag_or("distributed_optimizer", false);
  training.gradient_dtype = input::choose(reader, "gradient_dtype", numerics::kTensorFormats,
                                          numerics::ElementFormat::bf16);
  training.fused_accumulation = reader.flag_or("fused_accumulation", true);
  training.transposed_casts = reader.flag_or("transposed_casts", false);
  training.weight_bytes = read_bytes(reader, "weight_bytes", training.weight_bytes);
  training.moment_bytes = read_bytes(reader, "moment_bytes", training.moment_bytes);
  training.gradient_bytes =
      read_bytes(reader, "gradient_bytes", numerics::element_bits(training.gradient_dtype) / 8.0);
  reader.finish();
  return config;
}

input::Json training_json(const TrainingConfig& config) {
  const steps::Training& training = config.training;
  input::Json remat = input::Json::object();
  for (const steps::Activation& activation : steps::kActivations)
    remat[std::string(activation.name)] = kKeeps[training.remat.*activation.keep];
  return {{"model", config.model_name},
          {"sequence", training.sequence},
          {"batch", training.batch},
          {"microbatches", training.microbatches},
          {"remat", remat},
          {"attention",
           {{"skips_future", training.attention.skips_future},
            {"block", training.attention.block},
            {"skips_outside_window", training.attention.skips_outside_window}}},
          {"precision", precision_json(training.precision)},
          {"sequence_parallel", training.sequence_parallel},
          {"prefetch", training.prefetch},
          {"buckets", training.buckets},
          {"distributed_optimizer", training.distributed_optimizer},
          {"gradient_dtype", numerics::name(training.gradient_dtype)},
          {"fused_accumulation", training.fused_accumulation},
          {"transposed_casts", training.transposed_casts},
          {"weight_bytes", training.weight_bytes},
          {"moment_bytes", training.moment_bytes},
          {"gradient_bytes", training.gradient_bytes}};
}

}  // namespace equarx::config
