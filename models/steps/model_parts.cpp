#include "models/steps/model_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace equarx::steps {
namespace {

std::vector<std::uint32_t> equal_layers(const workloads::Transformer& model, std::uint32_t parts) {
  if (parts > model.layers)
    throw std::invalid_argument(fmt::format(
        "{} layers of {} cannot be divided into {} parts; use a shorter \"pipeline\" axis or fewer "
        "\"chunks\", at most {} parts",
        model.layers, model.name, parts, model.layers));
  std::vector<std::uint32_t> layers(parts, model.layers / parts);
  for (std::uint32_t part = 0; part < model.layers % parts; ++part) ++layers[part];
  return layers;
}

void check_layers(const workloads::Transformer& model, std::uint32_t parts,
                  const std::vector<std::uint32_t>& layers) {
  const std::uint32_t sum = std::accumulate(layers.begin(), layers.end(), 0U);
  if (layers.size() != parts)
    throw std::invalid_argument(fmt::format(
        "\"pipeline\": \"layers\" has {} numbers for {} parts of the model; list one for "
        "each stage and chunk",
        layers.size(), parts));
  if (sum != model.layers)
    throw std::invalid_argument(fmt::format(
        "\"pipeline\": \"layers\" has {} layers, and {} has {}; change the numbers so that "
        "they add up",
        sum, model.name, model.layers));
}

}  // namespace

std::vector<ModelPart> model_parts(const workloads::Transformer& model, std::uint32_t parts,
                                   const std::vector<std::uint32_t>& layers) {
  if (!layers.empty()) check_layers(model, parts, layers);
  std::vector<ModelPart> divided;
  std::uint32_t first = 0;
  for (const std::uint32_t count : layers.empty() ? equal_layers(model, parts) : layers) {
    divided.push_back({first, first + count, divided.empty(), divided.size() + 1 == parts});
    first += count;
  }
  return divided;
}

bool copies_embedding(const workloads::Transformer& model, const std::vector<ModelPart>& parts,
                      std::uint32_t depth) {
  const auto has = [&](bool ModelPart::*table) {
    return std::ranges::find(parts, true, table) != parts.end();
  };
  return depth > 0 && !model.tied_embeddings && has(&ModelPart::head) &&
         !has(&ModelPart::embedding);
}

Weights weights_of(const workloads::Transformer& model, const std::vector<ModelPart>& parts,
                   const Degrees& degrees, std::uint32_t depth) {
  if (parts == std::vector{ModelPart{0, model.layers, true, true}})
    return model_weights(model, degrees, depth);
  const double table = static_cast<double>(model.vocabulary) * model.d_model;
  double sum = 0.0;
  double routed = 0.0;
  for (const ModelPart& part : parts) {
    for (std::uint32_t layer = part.first; layer < part.end; ++layer) {
      const workloads::LayerKind kind = workloads::layer_kind(model, layer);
      sum += workloads::layer_parameters(model, kind);
      routed += workloads::routed_parameters(model, kind);
    }
    if (part.embedding) sum += table;
    if (part.head) sum += table + workloads::final_norm_parameters(model);
  }
  if (copies_embedding(model, parts, depth)) sum += table;
  Weights all = divided_weights(sum, routed, degrees);
  if (std::ranges::find(parts, true, &ModelPart::head) != parts.end())
    for (std::uint32_t module = 0; module < depth; ++module)
      all += prediction_weights(model, {.expert = degrees.expert});
  return all;
}

double updated_share(const Training& training, const std::vector<ModelPart>& parts,
                     const Degrees& degrees) {
  const std::uint32_t depth = training.prediction_depth;
  const auto updated = [&](const Weights& weights) {
    return updated_weights(weights, degrees, training.distributed_optimizer);
  };
  return updated(weights_of(training.model, parts, degrees, depth)) /
         updated(model_weights(training.model, degrees, depth));
}

}  // namespace equarx::steps
