// A phase as the operations of one chip, in order.
#pragma once

#include <cstdint>
#include <vector>

#include "models/workloads/attention.hpp"
#include "models/workloads/operation.hpp"
#include "models/workloads/phase.hpp"
#include "models/workloads/tensor_parallel.hpp"

namespace equarx::workloads {

/// The operations of each part. A phase is the embedding, the model's layers in order (is_local() says
/// which is which), and the head. All chips do the same.
struct PhaseOperations {
  std::vector<Operation> embedding;
  std::vector<Operation> local_layer;
  std::vector<Operation> global_layer;
  std::vector<Operation> head;
};

/// Where the residual is between the operations that read and write it: as large as what is summed in an AllReduce.
enum class ResidualPlace : std::uint8_t {
  hbm,   ///< each of them reads or writes it there
  vmem,  ///< it stays in VMEM all the time, and takes nothing of HBM's bandwidth
};

/// Every number is derived from the model's shape (docs/workloads.md). With more than one chip each layer
/// has two AllReduces, after attention and after the FFN.
/// @throws std::invalid_argument for a phase, a number of chips or a method that is not possible.
PhaseOperations phase_operations(const Transformer& model, const Phase& phase, std::uint32_t chips,
                                 const AttentionMethod& method,
                                 ResidualPlace residual = ResidualPlace::hbm);

}  // namespace equarx::workloads
