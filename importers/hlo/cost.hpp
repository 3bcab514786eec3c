// Cost of HLO instructions: FLOPs, vector operations, memory traffic.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "importers/hlo/custom_calls.hpp"
#include "importers/hlo/module.hpp"
#include "models/hardware/matrix_rate.hpp"
#include "models/workloads/operation.hpp"

namespace equarx::hlo {

/// Cost of an instruction including everything it calls; all 0 if it is free.
struct Cost {
  double flops = 0.0;         ///< FLOPs of GEMMs, 2 per multiply-add
  double matrix_flops = 0.0;  ///< FLOPs executed by the matrix unit: FP32 GEMMs take several passes
  /// Operand type of the GEMM with the most FLOPs.
  hardware::MatrixType products = hardware::MatrixType::bf16;
  /// Kernel of that GEMM; not `usual` only for convolutions and fused attention.
  workloads::Kernel kernel = workloads::Kernel::usual;
  double attention_rows = 0.0;  ///< workloads::Operation::attention_rows
  double vector_ops = 0.0;      ///< element-wise vector operations
  double comparisons = 0.0;     ///< of sorts, n log2 n per row of n
  double hbm_bytes = 0.0;       ///< read and written
  double to_host_bytes = 0.0;   ///< written to host memory
  double from_host_bytes = 0.0;

  /// True if it takes time of the core or the HBM.
  bool uses_core() const {
    return matrix_flops > 0.0 || vector_ops > 0.0 || comparisons > 0.0 || hbm_bytes > 0.0;
  }
  bool is_nothing() const { return !uses_core() && to_host_bytes <= 0.0 && from_host_bytes <= 0.0; }
  Cost& operator+=(const Cost& other);
  Cost& operator*=(double times);
  bool operator==(const Cost&) const = default;
};

/// The work of the core and the HBM as an operation that runs `times` times.
workloads::Operation operation_of(const Cost& cost, std::uint64_t times = 1);

/// Computes costs, and counts unsupported instructions.
///
/// An instruction reads its operands and writes its result; intermediate values of a fusion take no
/// memory, except for data of a normalization whose rows do not fit on chip, which is read once more
/// (passes_of()). As in XLA's HloCostAnalysis, an operand that a fusion only slices counts as the slices,
/// and an operand updated in place counts as the written update only. On-chip arrays
/// (MemorySpace::fast) take no HBM, except in GPU modules, where this space is HBM as well.
class CostModel {
 public:
  /// Both must outlive it. `calls`: work of custom-calls that replaces the model's
  explicit CostModel(const Module& module, const CustomCalls& calls = kNoCalls);

  /// @param notes  counts approximations and unsupported instructions
  Cost of(const Instruction& instruction, const Computation& computation, Skipped& notes);

 private:
  /// Cost of a computation, and the accessed share of its parameters and results.
  struct Inside {
    Cost work;  ///< without memory traffic
    std::vector<double>
        read_share;  ///< by parameter: share of its bytes that is read; > 1 for several passes
    std::vector<double> written;  ///< by element of the result: share of its bytes that is written
  };

  const Inside& inside(ComputationId id, Skipped& notes);
  Inside analyze(ComputationId id, Skipped& notes);
  void add_work(const Instruction& instruction, const Computation& computation, Inside& inside,
                Skipped& notes);
  void add_memory(const Instruction& instruction, const Computation& computation, Cost& cost,
                  Skipped& notes);
  double vector_ops(const Instruction& instruction, const Computation& computation, Skipped& notes);

  static const CustomCalls kNoCalls;

  const Module& module_;
  const CustomCalls& calls_;
  bool is_gpu_ = false;
  std::vector<std::optional<Inside>> cache_;  // by computation
};

/// True if the module was compiled for a GPU, judging by its custom-calls and backend
/// configurations.
bool is_for_gpu(const Module& module);

}  // namespace equarx::hlo
