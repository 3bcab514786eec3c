#include "experiments/step/errors.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "experiments/config/own_format.hpp"
#include "experiments/plan/checks.hpp"
#include "experiments/run/compared_values.hpp"
#include "experiments/run/source.hpp"
#include "experiments/step/group.hpp"
#include "models/values/value_executor.hpp"

namespace equarx::step {
namespace {

/// Implementations of one collective over all variants, each once.
struct Implementations {
  std::vector<const plan::CollectivePlan*> plans;  ///< distinct
  std::vector<std::size_t> of_variant;             ///< index into `plans`, by variant
};

Implementations implementations_of(const StepPlan& plan, std::size_t call) {
  Implementations all;
  for (const VariantPlan& variant : plan.variants) {
    const plan::CollectivePlan* const planned = &variant.calls[call]->plan;
    const auto known = std::ranges::find(all.plans, planned);
    all.of_variant.push_back(static_cast<std::size_t>(known - all.plans.begin()));
    if (known == all.plans.end()) all.plans.push_back(planned);
  }
  return all;
}

class Errors {
 public:
  Errors(const StepPlan& plan, const std::function<void(const std::string&)>& progress,
         unsigned threads, run::TensorFiles* tensors, StepResult& result)
      : plan_(plan),
        config_(plan.config),
        progress_(progress),
        threads_(threads),
        tensors_(tensors),
        result_(result) {}

  void add() {
    for (std::size_t call = 0; call < config_.calls.size(); ++call)
      if (config_.values[call]) compute(call);
    for (VariantResult& variant : result_.runs) add_totals(variant);
  }

 private:
  /// Computes the values of a collective in all variants.
  void compute(std::size_t call) {
    const config::TensorConfig& tensor = *config_.values[call];
    const Implementations all = implementations_of(plan_, call);
    for (std::size_t i = 0; i < all.plans.size(); ++i) {
      config::check_has_values(all.plans[i]->config, "/variants");
      check_memory_of(call, *all.plans[i]);
    }
    const values::TensorSource source = run::make_source(tensor);
    const auto begin = [&](const plan::CollectivePlan& collective) {
      progress_(fmt::format("{}, {}: computing the values of {} ranks", config_.calls[call].group,
                            collective.config.label, collective.program.ranks()));
    };
    const std::vector<values::ValueResult> values =
        run::compute_values({.plans = all.plans,
                             .baseline = all.of_variant[config_.baseline],
                             .tensor = tensor,
                             .source = source,
                             .against_baseline = config_.compared.has_value(),
                             .threads = threads_,
                             .sink = tensors_ == nullptr ? nullptr : &tensors_->sink(set_++),
                             .begin = begin});
    for (std::size_t i = 0; i < result_.runs.size(); ++i)
      result_.runs[i].collectives[call].run.numerics = values[all.of_variant[i]];
    if (values.front().against_exact.nonfinite_exact > 0)
      for (const values::NonfiniteInput& one :
           values::nonfinite_inputs(source, all.plans.front()->program.ranks()))
        result_.nonfinite_inputs.push_back(one);
  }

  void check_memory_of(std::size_t call, const plan::CollectivePlan& planned) const {
    config::ExperimentConfig experiment =
        group_experiment(config_, config_.calls[call], planned.config);
    experiment.numerics = true;
    const unsigned threads = threads_ > 0 ? threads_ : values::default_threads();
    if (const auto fits = plan::check_host_memory(planned.program, experiment, threads); !fits)
      throw input::InputError(
          config_.compared ? "/tensor" : "/values",
          fmt::format("{}: {}", config_.calls[call].group, fits.error().text()));
  }

  /// Sets the errors of a variant and its groups; none without values.
  void add_totals(VariantResult& variant) const {
    double bytes = 0.0;
    StepAccuracy total;
    for (std::size_t call = 0; call < config_.calls.size(); ++call) {
      if (!config_.values[call]) continue;
      const CollectiveResult& collective = variant.collectives[call];
      const values::ValueResult& values = *collective.run.numerics;
      const CallAccuracy error{values.against_exact.mse, values.against_exact.comparable_nmse(),
                               values.sampled_fraction};
      add_to_group(collective.group, error, variant);
      const double weight = collective.tasks * static_cast<double>(config_.values[call]->bytes());
      bytes += weight;
      total.mean_nmse += weight * error.nmse;
      total.worst_nmse = std::max(total.worst_nmse, error.nmse);
    }
    if (bytes == 0.0) return;
    total.mean_nmse /= bytes;
    variant.error = total;
  }

  /// A group with several collectives has the error of the worst.
  static void add_to_group(const std::string& name, const CallAccuracy& error,
                           VariantResult& variant) {
    GroupResult& group = *std::ranges::find(variant.groups, name, &GroupResult::name);
    if (!group.error || error.nmse > group.error->nmse) group.error = error;
  }

  const StepPlan& plan_;
  const config::StepConfig& config_;
  const std::function<void(const std::string&)>& progress_;
  unsigned threads_;
  run::TensorFiles* tensors_;
  std::size_t set_ = 0;  ///< of the next collective with values in `tensors_`
  StepResult& result_;
};

}  // namespace

void add_errors(const StepPlan& plan, const std::function<void(const std::string&)>& progress,
                unsigned threads, run::TensorFiles* tensors, StepResult& result) {
  Errors(plan, progress, threads, tensors, result).add();
}

}  // namespace equarx::step
