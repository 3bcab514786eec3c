// A phase of serving a transformer, as a graph of tasks.
#pragma once

#include <cstdint>

#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"
#include "models/workloads/operations.hpp"
#include "models/workloads/transformer.hpp"

namespace equarx::steps {

/// A prefill, or decoding of one token. Mesh axes: "tensor" (each chip runs a part of every layer),
/// "data" (replicas of the model, each with its own sequences) and "expert" (replicas of all but the
/// experts, which are divided, each with its own sequences).
struct Serving {
  workloads::Transformer model;
  /// Operations of one chip; "tensor" chips share the model, "expert" chips its experts.
  workloads::PhaseOperations operations;
  std::uint64_t elements = 0;  ///< elements per AllReduce, of one chunk
  numerics::ElementFormat dtype = numerics::ElementFormat::bf16;  ///< of the AllReduces
  /// Number of parts the positions are split into, so that the AllReduces of one overlap with the
  /// compute of the next.
  std::uint32_t chunks = 1;
};

/// A core task is the work between two collectives, of one chunk. Work after the last collective
/// waits for all chunks. On one chip a layer is a task. Shared experts run during the dispatch of the
/// rows of others.
/// @throws std::invalid_argument for any other mesh axis, and "expert" without experts
StepGraph serving_step(const Serving& serving, const Mesh& mesh);

}  // namespace equarx::steps
