// Dimensions of parallelism in training, and the division of weights over them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/steps/mesh.hpp"
#include "models/workloads/transformer.hpp"

namespace equarx::steps {

/// Chips along each dimension of parallelism.
struct Degrees {
  std::uint32_t data = 1;
  std::uint32_t fsdp = 1;
  std::uint32_t tensor = 1;
  std::uint32_t pipeline = 1;
  std::uint32_t context = 1;
  std::uint32_t expert = 1;

  /// Parts of the batch.
  std::uint32_t batch() const { return data * fsdp * expert; }
  /// Shards of weights outside of experts. With "fsdp" also over "expert", as in MaxText (logical
  /// axis "embed") and Megatron-FSDP.
  std::uint32_t dense_shards() const { return fsdp > 1 ? fsdp * expert : 1; }
  /// Chips with the same weights outside of experts, whose gradients are summed.
  std::uint32_t dense_replicas() const { return data * context * (fsdp > 1 ? 1 : expert); }
  /// Chips with the same experts.
  std::uint32_t expert_replicas() const { return data * context; }

  std::vector<std::string> dense_shard_axes() const;
  std::vector<std::string> dense_replica_axes() const;
};

/// Degrees of a mesh.
/// @throws std::invalid_argument for any other mesh axis
Degrees degrees(const Mesh& mesh);

/// Mesh axes along which experts are sharded: "fsdp".
const std::vector<std::string>& expert_shard_axes();
/// Mesh axes along which chips have the same experts.
const std::vector<std::string>& expert_replica_axes();

/// Numbers of weights, by their division.
struct Weights {
  double dense = 0.0;    ///< the same on all chips of "expert"; without the axis all weights
  double experts = 0.0;  ///< of one chip of "expert"

  double all() const { return dense + experts; }
  Weights& operator+=(const Weights& more);
};

/// Divides `all` weights, among them `routed` ones of experts.
Weights divided_weights(double all, double routed, const Degrees& degrees);

/// Weights of a layer per chip of a tensor group.
Weights layer_weights(const workloads::Transformer& model, workloads::LayerKind kind,
                      const Degrees& degrees);

/// Weights of one vocabulary table per chip of a tensor group.
double table_weights(const workloads::Transformer& model, const Degrees& degrees);

/// Weights of a module that predicts a further token, without the shared tables: a projection of two
/// vectors to one, a layer like the last, norms of both inputs and the model's final norm; per chip of a
/// tensor group.
Weights prediction_weights(const workloads::Transformer& model, const Degrees& degrees);
/// Weights of its projection.
double prediction_projection(const workloads::Transformer& model);

/// Weights of the whole model. `depth`: modules that predict further tokens
Weights model_weights(const workloads::Transformer& model, const Degrees& degrees,
                      std::uint32_t depth = 0);

/// Weights of one chip of "fsdp".
Weights shard_of(const Weights& weights, const Degrees& degrees);

/// Weights that a chip updates. `distributed`: those of its replicas are divided too.
double updated_weights(const Weights& weights, const Degrees& degrees, bool distributed);

}  // namespace equarx::steps
