#include "models/steps/degrees.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

namespace equarx::steps {

std::vector<std::string> Degrees::dense_shard_axes() const {
  if (fsdp == 1) return {};
  return {"fsdp", "expert"};
}

std::vector<std::string> Degrees::dense_replica_axes() const {
  if (fsdp == 1) return {"data", "expert", "context"};
  return expert_replica_axes();
}

const std::vector<std::string>& expert_shard_axes() {
  static const std::vector<std::string> axes = {"fsdp"};
  return axes;
}

const std::vector<std::string>& expert_replica_axes() {
  static const std::vector<std::string> axes = {"data", "context"};
  return axes;
}

Degrees degrees(const Mesh& mesh) {
  constexpr std::array<std::string_view, 6> kKnown = {"data",     "fsdp",    "tensor",
                                                      "pipeline", "context", "expert"};
  for (const MeshAxis& axis : mesh.axes)
    if (std::ranges::find(kKnown, axis.name) == kKnown.end())
      throw std::invalid_argument(
          fmt::format("training supports mesh axes \"data\", \"fsdp\", \"tensor\", \"pipeline\", "
                      "\"context\" and \"expert\", not '{}'",
                      axis.name));
  return {.data = mesh.length("data"),
          .fsdp = mesh.length("fsdp"),
          .tensor = mesh.length("tensor"),
          .pipeline = mesh.length("pipeline"),
          .context = mesh.length("context"),
          .expert = mesh.length("expert")};
}

Weights& Weights::operator+=(const Weights& more) {
  dense += more.dense;
  experts += more.experts;
  return *this;
}

Weights divided_weights(double all, double routed, const Degrees& degrees) {
  if (degrees.expert == 1) return {.dense = all};
  return {all - routed, routed / degrees.expert};
}

Weights layer_weights(const workloads::Transformer& model, workloads::LayerKind kind,
                      const Degrees& degrees) {
  const Weights all = divided_weights(workloads::layer_parameters(model, kind),
                                      workloads::routed_parameters(model, kind), degrees);
  return {all.dense / degrees.tensor, all.experts / degrees.tensor};
}

double table_weights(const workloads::Transformer& model, const Degrees& degrees) {
  return static_cast<double>(model.vocabulary) * model.d_model / degrees.tensor;
}

double prediction_projection(const workloads::Transformer& model) {
  constexpr double kVectors = 2.0;
  return kVectors * model.d_model * model.d_model;
}

Weights prediction_weights(const workloads::Transformer& model, const Degrees& degrees) {
  constexpr double kInputNorms = 2.0;
  Weights weights = layer_weights(model, workloads::layer_kind(model, model.layers - 1), degrees);
  weights.dense += (prediction_projection(model) + kInputNorms * model.d_model +
                    workloads::final_norm_parameters(model)) /
                   degrees.tensor;
  return weights;
}

Weights model_weights(const workloads::Transformer& model, const Degrees& degrees,
                      std::uint32_t depth) {
  double routed = 0.0;
  for (const auto& [kind, layers] : workloads::layer_kinds(model))
    routed += layers * workloads::routed_parameters(model, kind);
  Weights all = divided_weights(workloads::parameters(model), routed, degrees);
  for (std::uint32_t module = 0; module < depth; ++module)
    all += prediction_weights(model, {.expert = degrees.expert});
  return all;
}

Weights shard_of(const Weights& weights, const Degrees& degrees) {
  return {weights.dense / degrees.dense_shards(), weights.experts / degrees.fsdp};
}

double updated_weights(const Weights& weights, const Degrees& degrees, bool distributed) {
  const Weights shard = shard_of(weights, degrees);
  if (!distributed) return shard.all() / degrees.tensor;
  return shard.dense / degrees.tensor / degrees.dense_replicas() +
         shard.experts / degrees.tensor / degrees.expert_replicas();
}

}  // namespace equarx::steps
