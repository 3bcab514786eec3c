#include "experiments/config/workload_json.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "experiments/config/model_json.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "models/values/value_executor.hpp"
#include "models/workloads/operations.hpp"

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

std::uint64_t read_count(input::ObjectReader& reader, std::string_view key,
                         std::uint64_t fallback) {
  return reader.has(key) ? reader.integer(key, 1, kMostTokens) : fallback;
}

workloads::Phase read_phase(input::ObjectReader& reader) {
  const std::uint64_t batch = read_count(reader, "batch", 1);
  if (reader.choice("phase", kPhases) == 0) {
    reader.reject("context", "is for \"phase\": \"decode\"; a prefill has \"tokens\"");
    return Prefill{.tokens = reader.integer("tokens", 1, kMostTokens), .batch = batch};
  }
  reader.reject("tokens", "is for \"phase\": \"prefill\"; decoding has a \"context\"");
  return Decode{.context = reader.integer("context", 1, kMostTokens), .batch = batch};
}

AttentionMethod read_attention(input::ObjectReader reader) {
  AttentionMethod method;
  method.fused = reader.has("method") && reader.choice("method", kMethods) == 1;
  method.skips_future = reader.flag_or("skips_future", method.skips_future);
  method.skips_outside_window = reader.flag_or("skips_outside_window", method.skips_outside_window);
  if (method.fused) {
    reader.reject("score_bytes", "is for unfused attention; fused scores stay in VMEM");
    reader.reject("score_passes", "is for unfused attention; fused scores stay in VMEM");
  }
  if (reader.has("score_bytes")) method.score_bytes = reader.positive_number("score_bytes");
  if (reader.has("score_passes")) method.score_passes = reader.positive_number("score_passes");
  try {
    workloads::check_method(method);
  } catch (const std::invalid_argument& error) {
    throw input::InputError(reader.pointer_to("score_passes"), error.what());
  }
  reader.finish();
  return method;
}

const workloads::Recipe* read_recipe(input::ObjectReader& reader) {
  std::vector<std::string_view> names;
  for (const workloads::Recipe& recipe : workloads::recipes()) names.push_back(recipe.name);
  return &workloads::recipes()[reader.choice("precision", names)];
}

/// Derives the operations of the phase.
void derive_operations(const input::ObjectReader& reader, std::uint32_t chips,
                       WorkloadConfig& workload) {
  try {
    workload.operations = workloads::phase_operations(workload.model, workload.phase, chips,
                                                      workload.attention, workload.residual);
    workloads::apply(*workload.recipe, workload.model.weights, workload.operations);
  } catch (const workloads::PhaseError& error) {
    throw input::InputError(reader.pointer_to(workloads::name(error.field())), error.what());
  } catch (const std::invalid_argument& error) {  // the model does not divide evenly over the chips
    throw input::InputError(reader.pointer_to("model"), error.what());
  }
  if (workload.chunks > workloads::extent(workload.phase).rows())
    throw input::InputError(reader.pointer_to("chunks"),
                            fmt::format("{} chunks are more than the {} positions of this phase",
                                        workload.chunks, workloads::extent(workload.phase).rows()));
}

}  // namespace

WorkloadConfig read_workload(input::ObjectReader reader, std::uint32_t chips) {
  WorkloadConfig workload;
  workload.model_name = reader.text("model", "the name of a model, like \"gemma3-27b\", or a file");
  workload.model = load_model(workload.model_name, reader.pointer_to("model"));
  workload.phase = read_phase(reader);
  if (reader.has("attention")) workload.attention = read_attention(reader.object("attention"));
  workload.residual = reader.choice_or("residual", kResidualPlaces, workload.residual);
  if (reader.has("precision")) workload.recipe = read_recipe(reader);
  if (reader.has("chunks"))
    workload.chunks = static_cast<std::uint32_t>(reader.integer("chunks", 1, kMostChunks));
  reader.finish();
  derive_operations(reader, chips, workload);
  return workload;
}

std::string_view phase_name(const workloads::Phase& phase) {
  return kPhases[std::holds_alternative<Prefill>(phase) ? 0 : 1];
}

input::Json workload_json(const WorkloadConfig& workload) {
  input::Json json = {{"model", workload.model_name}, {"phase", phase_name(workload.phase)}};
  if (const auto* prefill = std::get_if<Prefill>(&workload.phase)) {
    json.update({{"tokens", prefill->tokens}, {"batch", prefill->batch}});
  } else {
    const Decode& decode = std::get<Decode>(workload.phase);
    json.update({{"context", decode.context}, {"batch", decode.batch}});
  }
  const AttentionMethod& method = workload.attention;
  json["attention"] = {{"method", kMethods[method.fused ? 1 : 0]},
                       {"skips_future", method.skips_future},
                       {"skips_outside_window", method.skips_outside_window}};
  if (!method.fused) {
    json["attention"]["score_bytes"] = method.score_bytes;
    json["attention"]["score_passes"] = method.score_passes;
  }
  json["residual"] = kResidualPlaces[workload.residual];
  json["precision"] = workload.recipe->name;
  json["chunks"] = workload.chunks;
  return json;
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
