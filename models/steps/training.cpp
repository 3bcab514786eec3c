#include "models/steps/training.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "models/steps/training_pipeline.hpp"

namespace equarx::steps {

using workloads::Transformer;

double tokens(const Training& training) {
  return static_cast<double>(training.batch) * static_cast<double>(training.sequence);
}

double model_flops(const Training& training) {
  constexpr double kPasses = 3.0;     // forward, and backward twice as much
  constexpr double kPerWeight = 2.0;  // multiply and add
  constexpr double kAttention = 4.0;  // scores and values, multiply and add
  const Transformer& model = training.model;
  const double modules = training.prediction_depth;
  const workloads::LayerKind last = workloads::layer_kind(model, model.layers - 1);
  double matrices = (1.0 + modules) * static_cast<double>(model.vocabulary) * model.d_model;
  matrices +=
      modules * (prediction_projection(model) + workloads::active_layer_parameters(model, last) -
                 workloads::norm_parameters(model));
  for (const auto& [kind, layers] : workloads::layer_kinds(model))
    matrices += layers * (workloads::active_layer_parameters(model, kind) -
                          workloads::norm_parameters(model));
  const double attention = kAttention / 2.0 * (model.layers + modules) *
                           static_cast<double>(training.sequence) * model.heads *
                           (model.head_size + model.value_size());
  return kPasses * tokens(training) * (kPerWeight * matrices + attention);
}

StepGraph training_step(const Training& training, const Mesh& mesh) {
  const auto has = [&](const char* axis) { return mesh.find(axis).has_value(); };
  if (has("expert") && !training.model.experts)
    throw std::invalid_argument(
        fmt::format("axis \"expert\" divides experts, and {} has none; use \"data\" or \"fsdp\"",
                    training.model.name));
  if (training.distributed_optimizer && !has("data") && !has("context") && !has("expert"))
    throw std::invalid_argument(
        "a distributed optimizer is sharded over the mesh axis \"data\", which this mesh lacks; "
        "add the axis, or drop \"distributed_optimizer\"");
  if (training.sharded_gradients && !training.distributed_optimizer)
    throw std::invalid_argument(
        "\"sharded_gradients\" is ZeRO stage 2, whose shards are of a distributed optimizer; add "
        "\"distributed_optimizer\": true, or drop \"sharded_gradients\"");
  if (training.sharded_gradients && training.pipeline.schedule == PipelineKind::dual_pipe)
    throw std::invalid_argument(
        "\"sharded_gradients\" is not simulated with \"dualpipe\", which sums gradients of two "
        "stages once; use another schedule, or drop \"sharded_gradients\"");
  if (training.prediction_depth > training.model.prediction_layers)
    throw std::invalid_argument(fmt::format(
        "\"prediction_depth\": {} has {} modules that predict further tokens; use at most {}, or a "
        "model with more \"prediction_layers\"",
        training.model.name, training.model.prediction_layers, training.model.prediction_layers));
  if (training.pipeline != PipelineSetup{} && !mesh.find("pipeline"))
    throw std::invalid_argument(
        "\"pipeline\" divides the layers over the mesh axis \"pipeline\", which this mesh lacks; "
        "add "
        "the axis, or drop \"pipeline\"");
  return TrainingPipeline(training, mesh).graph();
}

}  // namespace equarx::steps
