// One step of a phase on one chip.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/hardware/matrix_rate.hpp"

namespace equarx::workloads {

/// Which unit of a chip an operation is for.
enum class OperationKind : std::uint8_t {
  matrix,     ///< activations times weights
  attention,  ///< queries, keys and values
  vector,     ///< norms and other element-wise work
  memory,     ///< moves data only
  allreduce,  ///< sums over the chips; its time is the collective's
};

std::string_view name(OperationKind kind);

/// What it takes, of one chip. Operands and results lie in HBM (docs/workloads.md).
struct Operation {
  std::string_view name;
  OperationKind kind = OperationKind::memory;
  double flops = 0.0;  ///< of the matrix unit: 2 for each multiplication and addition
  hardware::MatrixType products = hardware::MatrixType::bf16;  ///< what it multiplies
  double vector_ops = 0.0;                                     ///< of FP32 vector lanes
  double weight_ops = 0.0;                                     ///< of these, those on weights
  double weight_bytes = 0.0;                                   ///< read
  double read_bytes = 0.0;                                     ///< activations, and keys and values
  double written_bytes = 0.0;
  double live_bytes = 0.0;       ///< activations that it needs in HBM at once
  double allreduce_bytes = 0.0;  ///< summed, of each chip
  std::uint64_t times = 1;       ///< that it is done, one after the other; the rest is of one

  double hbm_bytes() const { return weight_bytes + read_bytes + written_bytes; }
};

/// One of `parts` equal parts of an operation's positions. Each reads the weights again, and works on them again.
Operation part_of(Operation operation, std::uint32_t parts);

}  // namespace equarx::workloads
