// Values of collectives that are compared on the same inputs.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/plan/plan.hpp"
#include "experiments/run/result_sink.hpp"
#include "models/values/tensor_source.hpp"
#include "models/values/value_executor.hpp"

namespace equarx::run {

/// Collectives to compute, and how. The objects it refers to must outlive the computation.
struct ValueComparison {
  std::span<const plan::CollectivePlan* const> plans;
  std::size_t baseline = 0;                ///< index into `plans`
  const config::TensorConfig& tensor;      ///< sample and seed of rounding
  const values::TensorSource& source;      ///< inputs of the ranks
  bool against_baseline = true;            ///< also errors relative to the baseline's result
  unsigned threads = 0;                    ///< 0: one per core
  ResultSink* sink = nullptr;              ///< receives the results, if set
  std::function<void(double)> share = {};  ///< completed fraction of one collective
  /// Called before each collective is computed, the baseline first.
  std::function<void(const plan::CollectivePlan&)> begin = {};
};

/// Computes the values of every collective, and checks them (check_values()). Results are in the
/// order of the plans. @throws InvariantError
std::vector<values::ValueResult> compute_values(const ValueComparison& comparison);

}  // namespace equarx::run
