// What an instruction of HLO takes of a chip: FLOPs, vector operations, bytes of memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/hardware/matrix_rate.hpp"
#include "models/hlo/module.hpp"

namespace equarx::hlo {

/// Of one instruction with all that it calls. All 0 of one that takes nothing.
struct Cost {
  double flops = 0.0;  ///< of matrix products, 2 for each multiplication and addition
  double matrix_flops =
      0.0;  ///< the same as the matrix unit does them: an FP32 product in several passes
  hardware::MatrixType products = hardware::MatrixType::bf16;  ///< of the most of these
  double vector_ops = 0.0;                                     ///< of elements
  double hbm_bytes = 0.0;                                      ///< read and written
  double to_host_bytes = 0.0;                                  ///< written to the host's memory
  double from_host_bytes = 0.0;

  bool is_nothing() const {
    return matrix_flops <= 0.0 && vector_ops <= 0.0 && hbm_bytes <= 0.0 && to_host_bytes <= 0.0 &&
           from_host_bytes <= 0.0;
  }
  Cost& operator+=(const Cost& other);
  bool operator==(const Cost&) const = default;
};

/// Works out costs, and counts what it does not understand.
///
/// An instruction reads its operands and writes its result; what a fusion passes on within it takes no memory. Of an
/// operand that a fusion only slices, the slices are read; what is updated in place is read not at all, and the update
/// alone is written (as XLA's HloCostAnalysis does). Arrays within the chip (MemorySpace::fast) take no HBM, but for
/// modules of a GPU, where this space is HBM as well.
class CostModel {
 public:
  /// `module` must outlive it.
  explicit CostModel(const Module& module);

  /// @param notes  counts what was not understood, and how it was taken
  Cost of(const Instruction& instruction, const Computation& computation, Skipped& notes);

 private:
  /// What a computation takes of the chip's units, and of its parameters' and result's bytes.
  struct Inside {
    Cost work;                       ///< without memory
    std::vector<double> read_share;  ///< by parameter: the share of its bytes that is read
    std::vector<double> written;  ///< by part of the result: the share of its bytes that is written
  };

  const Inside& inside(ComputationId id, Skipped& notes);
  Inside look_inside(ComputationId id, Skipped& notes);
  void add_work(const Instruction& instruction, const Computation& computation, Inside& inside,
                Skipped& notes);
  void add_memory(const Instruction& instruction, const Computation& computation, Cost& cost,
                  Skipped& notes);
  double vector_ops(const Instruction& instruction, const Computation& computation, Skipped& notes);

  const Module& module_;
  bool is_gpu_ = false;
  std::vector<std::optional<Inside>> known_;  // by computation
};

/// Whether a module was compiled for a GPU, which its custom-calls and backend configurations tell.
bool is_for_gpu(const Module& module);

}  // namespace equarx::hlo
