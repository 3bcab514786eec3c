// Who wants the results of collectives as tensors.
#pragma once

#include "experiments/plan/plan.hpp"
#include "models/values/result_tensor.hpp"

namespace equarx::run {

/// Keeps what ranks end with, in place of a run that forgets it.
class ResultKeeper {
 public:
  virtual ~ResultKeeper() = default;

  /// Where the result of a collective is to be written: values::result_elements() elements of the tensor's type, which
  /// stay there until the run has ended. Called once for each collective.
  virtual values::ResultTensor& result_of(const plan::CollectivePlan& collective) = 0;
};

}  // namespace equarx::run
