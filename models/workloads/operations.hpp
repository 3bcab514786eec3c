// Operations of a phase on one chip, in order.
#pragma once

#include <cstdint>
#include <vector>

#include "models/workloads/attention.hpp"
#include "models/workloads/experts.hpp"
#include "models/workloads/layer_parts.hpp"
#include "models/workloads/operation.hpp"
#include "models/workloads/phase.hpp"
#include "models/workloads/tensor_parallel.hpp"

namespace equarx::workloads {

/// Operations of a layer of a kind.
struct LayerOperations {
  LayerKind kind;
  std::vector<Operation> operations;
};

/// Operations of each part of a phase: the embedding, the layers in order (layer_kind() selects their
/// operations), and the head. The same on all chips.
struct PhaseOperations {
  std::vector<Operation> embedding;
  std::vector<LayerOperations> layers;  ///< of each kind in the model, as layer_kinds()
  std::vector<Operation> head;

  /// Operations of a layer. @throws std::logic_error if the model has no layer of this kind
  const std::vector<Operation>& layer(LayerKind kind) const;
};

/// Positions that a chip's group computes in one step of continuous batching: one token of each
/// sequence that decodes, and chunks of prompts.
struct Batch {
  /// Attention of a layer. Kernels run both kinds one after the other.
  struct Layer {
    Attended decoding;
    Attended prompts;
  };

  double rows = 0.0;    ///< positions
  double logits = 0.0;  ///< sequences with a next token
  Layer local = {};
  Layer global = {};

  /// Adds sequences of the model: a chunk of prompts, or tokens to decode. `samples`: their last
  /// position is the last of the sequence, and yields a token.
  void add(const Transformer& model, const Extent& extent, const AttentionMethod& method,
           bool samples);
};

/// Derives the operations from the shape of the model (docs/workloads.md). With more than one chip
/// each layer has two AllReduces, after attention and after the FFN. Experts have a capacity for each
/// prompt, or for all sequences that decode.
/// @throws std::invalid_argument for an invalid phase, number of chips, attention method or capacity
PhaseOperations phase_operations(const Transformer& model, const Phase& phase, std::uint32_t chips,
                                 const AttentionMethod& method,
                                 ResidualPlace residual = ResidualPlace::hbm,
                                 ExpertMethod experts = {});

/// Operations of a batch, as above. Positions are not checked against the model's context.
PhaseOperations batch_operations(const Transformer& model, const Batch& batch, std::uint32_t chips,
                                 const AttentionMethod& method,
                                 ResidualPlace residual = ResidualPlace::hbm,
                                 const ExpertMethod& experts = {});

}  // namespace equarx::workloads
