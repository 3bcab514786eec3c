// Interface for receiving the results of collectives as tensors.
#pragma once

#include "experiments/plan/plan.hpp"
#include "models/values/result_tensor.hpp"

namespace equarx::run {

/// Provides the storage for result tensors, which a run otherwise discards.
class ResultSink {
 public:
  virtual ~ResultSink() = default;

  /// Returns the tensor to write the result of a collective to: values::result_elements() elements
  /// of the tensor's type, valid until the run has ended. Called once per collective.
  virtual values::ResultTensor& result_of(const plan::CollectivePlan& collective) = 0;
};

}  // namespace equarx::run
