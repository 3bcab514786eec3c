// FP8-LM's automatic scaling factor mu.
#pragma once

namespace equarx::numerics {

/// mu of one tensor over the steps of a training run. FP8-LM (arXiv 2310.18313, section 2.1): if
/// more than 0.001 % of the values of the sum are at the largest code, mu is halved for the next
/// step; otherwise it grows exponentially, by a factor of 2 over 1,000 steps. Following
/// Azure/MS-AMP pull request 140, it starts at 1, is multiplied by 2^(1/1000) and is unbounded.
class AutomaticMu {
 public:
  /// @throws std::invalid_argument unless `mu` is positive and finite
  explicit AutomaticMu(double mu = 1.0);

  /// mu for the next step.
  double value() const { return mu_; }

  /// Updates mu after a step.
  /// @param share fraction of the sum's elements at the largest code
  /// @throws std::invalid_argument unless `share` is from 0 to 1
  void update(double share);

 private:
  double mu_;
};

}  // namespace equarx::numerics
