// An operation of a phase on one chip.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/hardware/matrix_rate.hpp"

namespace equarx::workloads {

/// Kind of an operation, by the unit that executes it.
enum class OperationKind : std::uint8_t {
  matrix,     ///< activations times weights
  attention,  ///< queries, keys and values
  vector,     ///< norms and other element-wise work
  memory,     ///< moves data only
  allreduce,  ///< sum over the chips, timed as a collective
  alltoall,   ///< rows to and from the chips of experts, timed as a collective
};

std::string_view name(OperationKind kind);

/// True for kinds that are timed as a collective.
bool is_collective(OperationKind kind);

/// Kernel of an operation, if its rates are not those of other operations (roofline.hpp).
enum class Kernel : std::uint8_t {
  usual,               ///< a GEMM if it has FLOPs, otherwise a pass over its bytes
  convolution,         ///< an implicit GEMM
  attention,           ///< fused attention
  attention_backward,  ///< its backward pass
  amax,                ///< a cast that also finds the amax of a whole tensor
};

/// All kernels, indexed by their value.
inline constexpr std::array kKernels = {Kernel::usual, Kernel::convolution, Kernel::attention,
                                        Kernel::attention_backward, Kernel::amax};

/// Returns "usual", "convolution", "attention", "attention-backward" or "amax".
std::string_view name(Kernel kernel);

/// A GEMM with weights: rows x inputs by inputs x outputs. A grouped one has equal parts of the rows
/// for each of several matrices.
struct GemmShape {
  double rows = 0.0;  ///< of all matrices
  double inputs = 0.0;
  double outputs = 0.0;
  double matrices = 1.0;  ///< that are read; an expected number may be fractional
  double stored = 1.0;    ///< matrices on the chip
};

/// Resources of an operation on one chip. Operands and results are in HBM (docs/workloads.md).
struct Operation {
  std::string_view name;
  OperationKind kind = OperationKind::memory;
  Kernel kernel = Kernel::usual;
  double flops = 0.0;  ///< FLOPs of its GEMMs, 2 per multiply-add
  GemmShape gemm = {};
  hardware::MatrixType products = hardware::MatrixType::bf16;  ///< operand type of its GEMMs
  double passes = 1.0;           ///< of the matrix unit over its operands
  double row_tile = 1.0;         ///< rows that it multiplies at a time
  double vector_ops = 0.0;       ///< FP32 vector operations
  double decoded_weights = 0.0;  ///< weights decoded to the type of the products
  double comparisons = 0.0;      ///< of a sort
  double attention_rows = 0.0;   ///< query rows of all heads, times products per score / 2
  double training_flops = 0.0;   ///< flops if part of a training step, otherwise 0
  double weight_bytes = 0.0;     ///< read
  double read_bytes = 0.0;       ///< activations, keys and values
  double written_bytes = 0.0;
  double live_bytes = 0.0;        ///< activations live in HBM at the same time
  double collective_bytes = 0.0;  ///< summed, or sent to all chips, per chip
  std::uint64_t times = 1;        ///< repetitions; all other fields are per repetition

  double hbm_bytes() const { return weight_bytes + read_bytes + written_bytes; }
  /// Operations of the matrix unit: `flops` in all passes, of whole tiles.
  double unit_ops() const;
};

/// Appends `more` to `operations`.
void append(std::vector<Operation>& operations, const std::vector<Operation>& more);

/// Returns one of `parts` equal parts of the positions. Each part reads and processes all weights
/// again.
Operation part_of(Operation operation, std::uint32_t parts);

}  // namespace equarx::workloads
