#include "experiments/run/compared_values.hpp"

#include <algorithm>
#include <cstdint>
#include <forward_list>
#include <optional>
#include <utility>

#include "experiments/run/checks.hpp"
#include "experiments/run/source.hpp"
#include "models/values/joint_execution.hpp"

namespace equarx::run {
namespace {

/// Most memory of collectives that are computed together, in bytes: of all of them, and of the
/// inputs that they share.
constexpr std::uint64_t kMostTogether = std::uint64_t{128} << 20;
constexpr std::uint64_t kMostInputs = std::uint64_t{64} << 20;

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
    add(comparison_.baseline, {.result = baseline});
    for (std::size_t i = 0; i < results_.size(); ++i)
      if (i != comparison_.baseline)
        add(i, {.baseline = comparison_.against_baseline ? baseline : nullptr,
                .result = kept(*comparison_.plans[i])});
    if (executions_.size() > 1 && memory() <= kMostTogether)
      compute_together();
    else
      for (std::size_t i = 0; i < executions_.size(); ++i) compute(i);
    for (std::size_t i = 0; i < executions_.size(); ++i)
      check_values(*comparison_.plans[order_[i]], results_[order_[i]],
                   comparison_.tensor.sample == 1.0);
    if (comparison_.against_baseline)
      results_[comparison_.baseline].against_baseline = numerics::ErrorMetrics{};
    return std::move(results_);
  }

 private:
  /// Destination of a result; null if results are not kept.
  values::ResultTensor* kept(const plan::CollectivePlan& plan) const {
    return comparison_.sink == nullptr ? nullptr : &comparison_.sink->result_of(plan);
  }

  /// Adds the collective of a plan, after its baseline.
  void add(std::size_t plan, values::ValueOptions options) {
    const collectives::Program& program = comparison_.plans[plan]->program;
    options.threads = comparison_.threads;
    options.rounding_seed = comparison_.tensor.values.seed;
    options.sample = comparison_.tensor.sample;
    if (auto residual = make_residual_source(program, comparison_.tensor))
      options.residual = &residuals_.emplace_front(std::move(*residual));
    order_.push_back(plan);
    executions_.push_back({&program, std::move(options)});
  }

  std::uint64_t memory() const {
    const unsigned threads =
        comparison_.threads == 0 ? values::default_threads() : comparison_.threads;
    std::uint64_t bytes = 0;
    for (const values::Execution& execution : executions_)
      bytes += values::memory_bytes(*execution.program, threads);
    return bytes;
  }

  void begin(std::size_t execution) const {
    if (comparison_.begin) comparison_.begin(*comparison_.plans[order_[execution]]);
  }

  void compute(std::size_t execution) {
    begin(execution);
    values::Execution& one = executions_[execution];
    one.options.watch = comparison_.share;
    results_[order_[execution]] = values::execute(*one.program, comparison_.source, one.options);
  }

  /// Reports each collective in turn when its share of the whole work begins.
  void compute_together() {
    std::size_t begun = 0;
    const auto begin_until = [&](std::size_t end) {
      for (; begun < end; ++begun) begin(begun);
    };
    const auto all = static_cast<double>(executions_.size());
    begin_until(1);
    std::vector<values::ValueResult> results = values::execute_jointly(
        executions_, comparison_.source,
        {.threads = comparison_.threads, .most_kept = kMostInputs, .watch = [&](double done) {
           begin_until(static_cast<std::size_t>(done * all) + 1);
           if (comparison_.share) comparison_.share(done * all - static_cast<double>(begun - 1));
         }});
    begin_until(executions_.size());
    for (std::size_t i = 0; i < results.size(); ++i) results_[order_[i]] = std::move(results[i]);
  }

  const ValueComparison& comparison_;
  std::vector<values::ValueResult> results_;           ///< by plan
  std::vector<values::Execution> executions_;          ///< the baseline first
  std::vector<std::size_t> order_;                     ///< plans of the executions
  std::forward_list<values::TensorSource> residuals_;  ///< whose addresses stay
};

}  // namespace

std::vector<values::ValueResult> compute_values(const ValueComparison& comparison) {
  return Computation(comparison).run();
}

}  // namespace equarx::run
