// A phase of serving a transformer, as a graph of tasks.
#pragma once

#include <cstdint>

#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"
#include "models/workloads/operations.hpp"
#include "models/workloads/transformer.hpp"

namespace equarx::steps {

/// A prefill, or a token of decoding. Mesh axes: "tensor" (each chip does a part of every layer), "data" (so many groups
/// of chips, each with the whole model and sequences of its own).
struct Serving {
  workloads::Transformer model;
  workloads::PhaseOperations operations;  ///< of one chip, if "tensor" chips share the model
  std::uint64_t elements = 0;             ///< that one AllReduce sums, of one chunk; bf16
  /// Parts of the positions: the AllReduces of one go on beside what is computed of the next.
  std::uint32_t chunks = 1;
};

/// Tasks of the core are what is computed between two AllReduces, of one chunk. What comes after the last AllReduce
/// waits for all chunks. On one chip a layer is a task.
/// @throws std::invalid_argument for an axis that is none of these
StepGraph serving_step(const Serving& serving, const Mesh& mesh);

}  // namespace equarx::steps
