#include "experiments/config/workload_json.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/pointer.hpp"
#include "experiments/config/expert_json.hpp"
#include "experiments/config/model_json.hpp"
#include "experiments/config/scheme_json.hpp"
#include "experiments/config/stored_json.hpp"
#include "models/values/value_executor.hpp"
#include "models/workloads/operations.hpp"
#include "models/workloads/scheme_work.hpp"

namespace equarx::config {
namespace {

using workloads::AttentionMethod;
using workloads::Decode;
using workloads::Prefill;

constexpr std::array<std::string_view, 2> kPhases = {"prefill", "decode"};
constexpr std::array<std::string_view, 2> kMethods = {"unfused", "fused"};
constexpr input::EnumNames<workloads::ResidualPlace, 2> kResidualPlaces({
    {workloads::ResidualPlace::hbm, "hbm"},
    {workloads::ResidualPlace::vmem, "vmem"},
});
constexpr std::uint64_t kMostTokens = std::uint64_t{1} << 32;
constexpr std::uint32_t kMostChunks = 64;

/// Named settings of how a compiler runs attention and keeps the residual.
struct Preset {
  std::string_view name;
  AttentionMethod attention;
  workloads::ResidualPlace residual;
};

/// Passes of bf16 scores over HBM in Gemma's JAX code as XLA compiles it for TPU v5e, and a residual
/// that stays in VMEM: counted with the prefills of Gemma 3 27B of EQuARX in view, to +-1
/// (docs/workloads.md, section 8).
constexpr double kUnfusedPasses = 7.25;
constexpr std::array kPresets = {
    Preset{"xla-unfused", {.score_passes = kUnfusedPasses}, workloads::ResidualPlace::vmem}};

/// Defaults of `attention` and `residual`, by name; the resolved configuration has their values.
struct PresetName {
  static std::vector<std::string_view> names() {
    std::vector<std::string_view> names;
    for (const Preset& preset : kPresets) names.push_back(preset.name);
    return names;
  }
  void read(input::ObjectReader& reader, std::string_view key, WorkloadConfig& workload) const {
    if (!reader.has(key)) return;
    const Preset& preset = kPresets[reader.choice(key, names())];
    workload.attention = preset.attention;
    workload.residual = preset.residual;
  }
  void write(const WorkloadConfig&, std::string_view, input::Json&) const {}
  input::Json schema() const { return input::enum_schema(names()); }
};

workloads::Phase read_phase(input::ObjectReader& reader) {
  const std::uint64_t batch = reader.has("batch") ? reader.integer("batch", 1, kMostTokens) : 1;
  if (reader.choice("phase", kPhases) == 0) {
    reader.reject("context", "is for \"phase\": \"decode\"; a prefill has \"tokens\"");
    return Prefill{.tokens = reader.integer("tokens", 1, kMostTokens), .batch = batch};
  }
  reader.reject("tokens", "is for \"phase\": \"prefill\"; decoding has a \"context\"");
  return Decode{.context = reader.integer("context", 1, kMostTokens), .batch = batch};
}

/// The phase, with the keys of its size.
struct PhaseKeys {
  void read(input::ObjectReader& reader, std::string_view, WorkloadConfig& workload) const {
    workload.phase = read_phase(reader);
  }
  void write(const WorkloadConfig& workload, std::string_view key, input::Json& json) const {
    json[std::string(key)] = phase_name(workload.phase);
    if (const auto* prefill = std::get_if<Prefill>(&workload.phase)) {
      json.update({{"tokens", prefill->tokens}, {"batch", prefill->batch}});
    } else {
      const Decode& decode = std::get<Decode>(workload.phase);
      json.update({{"context", decode.context}, {"batch", decode.batch}});
    }
  }
  input::Json schema() const { return input::enum_schema(kPhases); }
};

/// A property of scores, which fused attention keeps in VMEM.
struct OfScores {
  double AttentionMethod::*value;
  double least;  ///< for the schema; 0: above it

  void read(input::ObjectReader& reader, std::string_view key, AttentionMethod& method) const {
    if (method.fused) reader.reject(key, "is for unfused attention; fused scores stay in VMEM");
    if (reader.has(key)) method.*value = reader.positive_number(key);
  }
  void write(const AttentionMethod& method, std::string_view key, input::Json& json) const {
    if (!method.fused) json[std::string(key)] = method.*value;
  }
  input::Json schema() const {
    if (least == 0.0) return input::Positive{}.schema();
    return {{"type", "number"}, {"minimum", least}};
  }
};

const input::Table<AttentionMethod>& attention_table() {
  static const input::Table<AttentionMethod> table{
      {"method", &AttentionMethod::fused, input::Switch{kMethods}, "or `\"fused\"` (W6)"},
      {"skips_future", &AttentionMethod::skips_future, input::Flag{},
       "skips keys after the query (W7)"},
      {"skips_outside_window", &AttentionMethod::skips_outside_window, input::Flag{},
       "local layers compute only their window (W7)"},
      {"score_bytes", OfScores{&AttentionMethod::score_bytes, 0},
       "unfused: bytes per score in HBM (b in W6)", input::by_default("2")},
      {"score_passes", OfScores{&AttentionMethod::score_passes, 2},
       "unfused: HBM passes of the scores (p in W6)", input::by_default("4")},
  };
  return table;
}

/// Attention, with limits that depend on its method.
struct Attention {
  void read(input::ObjectReader& reader, std::string_view key, AttentionMethod& method) const {
    input::Nested{attention_table}.read(reader, key, method);
    input::at(input::pointer(reader.pointer_to(key), "score_passes"),
              [&] { workloads::check_method(method); });
  }
  input::Json write(const AttentionMethod& method) const { return attention_table().write(method); }
  input::Json schema() const { return attention_table().schema(); }
};

/// A model by name, or the path of its file.
struct ModelName {
  void read(input::ObjectReader& reader, std::string_view key, WorkloadConfig& workload) const {
    workload.model_name = reader.text(key, "the name of a model, like \"gemma3-27b\", or a file");
    workload.model = load_model(workload.model_name, reader.pointer_to(key));
  }
  void write(const WorkloadConfig& workload, std::string_view key, input::Json& json) const {
    json[std::string(key)] = workload.model_name;
  }
  input::Json schema() const { return input::Text{}.schema(); }
};

const input::Table<WorkloadConfig>& workload_table() {
  using input::Elsewhere, input::Integer;
  static const input::Table<WorkloadConfig> table{
      {"model", ModelName{},
       "[built-in model](#1-model), such as `gemma3-27b`, or path of a model file",
       input::kRequired},
      {"phase", PhaseKeys{}, "`\"prefill\"` or `\"decode\"`", input::kRequired},
      {"tokens", Elsewhere{Integer{1, kMostTokens}}, "prompt length",
       input::otherwise("required for prefill")},
      {"context", Elsewhere{Integer{1, kMostTokens}},
       "positions that the new token attends to, including itself",
       input::otherwise("required for decode")},
      {"batch", Elsewhere{Integer{1, kMostTokens}}, "prompts, or sequences",
       input::by_default("1")},
      {"preset", PresetName{},
       "`\"xla-unfused\"`: defaults of `attention` and `residual` as XLA runs Gemma's JAX code: "
       "7.25 `score_passes`, `\"vmem\"` (section 8)"},
      {"attention", &WorkloadConfig::attention, Attention{}, ""},
      {"residual", &WorkloadConfig::residual, input::OneOf{kResidualPlaces},
       "`\"vmem\"`: the residual stays in VMEM if it fits, without HBM traffic (section 8)"},
      {"precision", &WorkloadConfig::precision, SchemeValue{},
       "[scheme](gemm.md) of the layer weights: a file in `configs/schemes` by name, such as "
       "`\"zeroquant\"`, a path, or an object (W8)"},
      {"kv", &WorkloadConfig::kv, FormatChoice{},
       "[format](stored_formats.md#keys) of cached keys and values: a file in `configs/formats` by "
       "name, a path, or an object; a row per token (W6)",
       input::otherwise("bf16")},
      {"chunks", &WorkloadConfig::chunks, Integer{1, kMostChunks}, "overlap, up to 64 (W12)"},
  };
  return table;
}

/// Bytes per element of the KV cache of a chip; a row has all keys, or all values, of a token, or its
/// latent vector. Groups of several tokens are complete. @throws std::invalid_argument if the format
/// does not divide a row
double kv_bytes(const WorkloadConfig& workload, const workloads::Shard& shard) {
  constexpr double kBitsPerByte = 8.0;
  const stored::Groups& groups = workload.kv->groups;
  const bool joins_tokens = groups.along == stored::Along::column && groups.length > 0;
  const auto keys = static_cast<std::size_t>(workloads::extent(workload.phase).keys);
  const stored::Shape shape{joins_tokens ? groups.length : keys,
                            workload.model.latent
                                ? workload.model.latent->cached()
                                : std::size_t{shard.kv_heads} * workload.model.head_size};
  return static_cast<double>(stored::stored_bits(*workload.kv, shape).total()) / kBitsPerByte /
         static_cast<double>(shape.elements());
}

/// Sets the bytes of the KV cache, if it has a format.
void apply_kv(const input::ObjectReader& reader, std::uint32_t chips, WorkloadConfig& workload) {
  if (!workload.kv) return;
  const workloads::Shard shard = input::at(reader.pointer_to("model"),
                                           [&] { return workloads::shard(workload.model, chips); });
  workload.attention.kv_bytes =
      input::at(reader.pointer_to("kv"), [&] { return kv_bytes(workload, shard); });
}

/// Derives the operations of the phase.
void derive_operations(const input::ObjectReader& reader, std::uint32_t chips,
                       WorkloadConfig& workload) {
  apply_kv(reader, chips, workload);
  try {
    workload.operations =
        workloads::phase_operations(workload.model, workload.phase, chips, workload.attention,
                                    workload.residual, workload.experts);
  } catch (const input::UserError& error) {  // of the phase
    throw input::InputError(reader.pointer_to(error.place()), error.message());
  } catch (const std::invalid_argument& error) {  // the model does not divide evenly over the chips
    throw input::InputError(reader.pointer_to("model"), error.what());
  }
  input::at(reader.pointer_to("precision"),
            [&] { workloads::apply(workload.precision.scheme, workload.operations); });
  if (workload.chunks > workloads::extent(workload.phase).rows())
    throw input::InputError(reader.pointer_to("chunks"),
                            fmt::format("{} chunks are more than the {} positions of this phase",
                                        workload.chunks, workloads::extent(workload.phase).rows()));
}

}  // namespace

WorkloadConfig read_workload(input::ObjectReader reader, std::uint32_t chips,
                             std::uint32_t expert_chips) {
  WorkloadConfig workload;
  workload_table().read(reader, workload);
  read_experts(reader, workload.model, workload.experts);
  workload.experts.chips = expert_chips;
  reader.finish();
  derive_operations(reader, chips, workload);
  return workload;
}

std::string_view phase_name(const workloads::Phase& phase) {
  return kPhases[std::holds_alternative<Prefill>(phase) ? 0 : 1];
}

input::Json workload_json(const WorkloadConfig& workload) {
  input::Json json = workload_table().write(workload);
  write_experts(workload.model, workload.experts, json);
  return json;
}

input::Json workload_schema() {
  return input::joined({workload_table().schema(), expert_schema()});
}

std::uint64_t chunk_rows(const WorkloadConfig& workload) {
  const auto rows = static_cast<std::uint64_t>(workloads::extent(workload.phase).rows());
  return (rows + workload.chunks - 1) / workload.chunks;
}

ImposedSize tensor_size(const WorkloadConfig& workload) {
  constexpr double kSampledElements = 1 << 20;
  constexpr double kWindows = values::kSampleWindows;  // a sample has at least one element of each
  const std::vector<std::uint64_t> shape = {chunk_rows(workload), workload.model.d_model};
  const double elements = static_cast<double>(shape[0]) * static_cast<double>(shape[1]);
  const double sample =
      elements > kSampledElements ? std::max(1.0 / kWindows, kSampledElements / elements) : 1.0;
  return {shape, sample};
}

}  // namespace equarx::config
