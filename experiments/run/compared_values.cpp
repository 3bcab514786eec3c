#include "experiments/run/compared_values.hpp"

#include <optional>

#include "experiments/run/checks.hpp"
#include "experiments/run/source.hpp"

namespace equarx::run {
namespace {

class Computation {
 public:
  explicit Computation(const ValueComparison& comparison)
      : comparison_(comparison), results_(comparison.plans.size()) {}

  std::vector<values::ValueResult> run() && {
    const plan::CollectivePlan& first = *comparison_.plans[comparison_.baseline];
    std::optional<values::ResultTensor> own;
    values::ResultTensor* baseline = kept(first);
    if (baseline == nullptr && comparison_.against_baseline)
      baseline = &own.emplace(values::result_elements(first.program), comparison_.tensor.dtype);
    compute(comparison_.baseline, {.result = baseline});
    if (comparison_.against_baseline)
      results_[comparison_.baseline].against_baseline = numerics::ErrorMetrics{};
    for (std::size_t i = 0; i < results_.size(); ++i)
      if (i != comparison_.baseline)
        compute(i, {.baseline = comparison_.against_baseline ? baseline : nullptr,
                    .result = kept(*comparison_.plans[i])});
    return std::move(results_);
  }

 private:
  /// Destination of a result; null if results are not kept.
  values::ResultTensor* kept(const plan::CollectivePlan& plan) const {
    return comparison_.sink == nullptr ? nullptr : &comparison_.sink->result_of(plan);
  }

  void compute(std::size_t index, values::ValueOptions options) {
    const plan::CollectivePlan& plan = *comparison_.plans[index];
    if (comparison_.begin) comparison_.begin(plan);
    options.threads = comparison_.threads;
    options.rounding_seed = comparison_.tensor.values.seed;
    options.sample = comparison_.tensor.sample;
    options.watch = comparison_.share;
    const auto residual = make_residual_source(plan.program, comparison_.tensor);
    if (residual) options.residual = &*residual;
    results_[index] = values::execute(plan.program, comparison_.source, options);
    check_values(plan, results_[index], comparison_.tensor.sample == 1.0);
  }

  const ValueComparison& comparison_;
  std::vector<values::ValueResult> results_;  ///< by plan
};

}  // namespace

std::vector<values::ValueResult> compute_values(const ValueComparison& comparison) {
  return Computation(comparison).run();
}

}  // namespace equarx::run
