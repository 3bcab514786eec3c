// Execution of several programs on the same tensors, whose inputs are read once.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/values/value_executor.hpp"

namespace equarx::values {

/// A program and its options; those on threads and progress are ignored.
struct Execution {
  const collectives::Program* program = nullptr;
  ValueOptions options;
};

/// Options of execute_jointly().
struct JointOptions {
  unsigned threads = 0;                    ///< 0: one per core
  std::uint64_t most_kept = 0;             ///< bytes of inputs that are kept between programs
  std::function<void(double)> watch = {};  ///< as ValueOptions::watch, of all executions
};

/// Results of execute() for each execution, in their order. Executions may compare their results with
/// the result of the first.
///
/// The tensor is divided among threads where all programs have borders of lanes. In each division,
/// the executions advance through the tensor side by side, the first ahead of the others, so that
/// inputs are generated, or read, once, unless lanes take more than `most_kept`, which threads
/// share.
std::vector<ValueResult> execute_jointly(std::span<const Execution> executions,
                                         const TensorSource& source, const JointOptions& options);

}  // namespace equarx::values
