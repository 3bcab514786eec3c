// FP8-LM's automatic scaling: how mu changes from step to step.
#pragma once

namespace equarx::numerics {

/// Of one tensor, over the steps of a training. FP8-LM (arXiv 2310.18313, section 2.1): where more than 0.001 % of the
/// values of the sum are at the largest code, mu is halved for the next step; else it grows exponentially, by a factor
/// of 2 over 1,000 steps. As an open change of Azure/MS-AMP reads it (pull request 140), it starts at 1, is multiplied by
/// 2^(1/1000) and has no limit.
class AutomaticMu {
 public:
  /// @throws std::invalid_argument for a number that is not above 0, or not finite
  explicit AutomaticMu(double mu = 1.0);

  /// Of the next step.
  double value() const { return mu_; }

  /// After a step. `share`: of the sum's elements, those at the largest code.
  /// @throws std::invalid_argument if it is not from 0 to 1
  void update(double share);

 private:
  double mu_;
};

}  // namespace equarx::numerics
