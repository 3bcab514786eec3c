// An operation of a phase on one chip.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/hardware/matrix_rate.hpp"

namespace equarx::workloads {

/// Kind of an operation, by the unit that executes it.
enum class OperationKind : std::uint8_t {
  matrix,     ///< activations times weights
  attention,  ///< queries, keys and values
  vector,     ///< norms and other element-wise work
  memory,     ///< moves data only
  allreduce,  ///< sum over the chips, timed as a collective
};

std::string_view name(OperationKind kind);

/// Resources of an operation on one chip. Operands and results are in HBM (docs/workloads.md).
struct Operation {
  std::string_view name;
  OperationKind kind = OperationKind::memory;
  double flops = 0.0;  ///< FLOPs of the matrix unit, 2 per multiply-add
  hardware::MatrixType products = hardware::MatrixType::bf16;  ///< operand type of its GEMMs
  double vector_ops = 0.0;                                     ///< FP32 vector operations
  double weight_ops = 0.0;    ///< share of vector_ops that works on weights
  double weight_bytes = 0.0;  ///< read
  double read_bytes = 0.0;    ///< activations, keys and values
  double written_bytes = 0.0;
  double live_bytes = 0.0;       ///< activations live in HBM at the same time
  double allreduce_bytes = 0.0;  ///< bytes summed per chip
  std::uint64_t times = 1;       ///< repetitions; all other fields are per repetition

  double hbm_bytes() const { return weight_bytes + read_bytes + written_bytes; }
};

/// Returns one of `parts` equal parts of the positions. Each part reads and processes all weights
/// again.
Operation part_of(Operation operation, std::uint32_t parts);

}  // namespace equarx::workloads
