#include "experiments/step/errors.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "experiments/input/errors.hpp"
#include "experiments/plan/checks.hpp"
#include "experiments/run/checks.hpp"
#include "experiments/run/source.hpp"
#include "experiments/step/group.hpp"
#include "models/values/value_executor.hpp"

namespace equarx::step {
namespace {

class Errors {
 public:
  Errors(const StepPlan& plan, const std::function<void(const std::string&)>& progress,
         unsigned threads, StepResult& result)
      : plan_(plan),
        config_(plan.config),
        progress_(progress),
        threads_(threads),
        result_(result),
        tasks_(config::tasks_of_calls(plan.config)) {}

  void add() {
    for (std::size_t variant = 0; variant < plan_.variants.size(); ++variant) {
      double bytes = 0.0;
      StepError error;
      for (std::size_t call = 0; call < config_.calls.size(); ++call) {
        if (!config_.values[call]) continue;
        const CallError& of_call = error_of(variant, call);
        add_to_group(config_.calls[call].group, of_call, result_.variants[variant]);
        const double weight = tasks_[call] * static_cast<double>(config_.values[call]->bytes());
        bytes += weight;
        error.mean_nmse += weight * of_call.nmse;
        error.worst_nmse = std::max(error.worst_nmse, of_call.nmse);
      }
      if (bytes == 0.0) return;  // no values
      error.mean_nmse /= bytes;
      result_.variants[variant].error = error;
    }
  }

 private:
  const CallError& error_of(std::size_t variant, std::size_t call) {
    const PlannedCall* const planned = plan_.variants[variant].calls[call].get();
    const auto known = known_.find(planned);
    if (known != known_.end()) return known->second;
    const config::StepCall& of = config_.calls[call];
    progress_(fmt::format("{}: {}: computing the values of {} ranks",
                          config_.variants[variant].label, of.group,
                          planned->plan.program.ranks()));
    return known_.emplace(planned, compute(of, planned->plan)).first->second;
  }

  CallError compute(const config::StepCall& of, const plan::CollectivePlan& planned) const {
    config::ExperimentConfig experiment = group_experiment(config_, of, planned.config);
    experiment.numerics = true;
    const unsigned threads = threads_ > 0 ? threads_ : values::default_threads();
    if (const auto infeasible = plan::check_host_memory(planned.program, experiment, threads))
      throw input::InputError("/values", fmt::format("{}: {}", of.group, infeasible->text()));
    const values::ValueResult computed =
        values::execute(planned.program, run::make_source(experiment.tensor),
                        {.threads = threads,
                         .rounding_seed = experiment.tensor.values.seed,
                         .sample = experiment.tensor.sample,
                         .counts = false});
    run::check_values(planned, computed, computed.sampled_fraction == 1.0);
    return {computed.against_exact.mse, computed.against_exact.comparable_nmse(),
            computed.sampled_fraction};
  }

  /// A group with several collectives has the error of the worst.
  static void add_to_group(const std::string& name, const CallError& error,
                           VariantResult& variant) {
    GroupResult& group = *std::ranges::find(variant.groups, name, &GroupResult::name);
    if (!group.error || error.nmse > group.error->nmse) group.error = error;
  }

  const StepPlan& plan_;
  const config::StepConfig& config_;
  const std::function<void(const std::string&)>& progress_;
  unsigned threads_;
  StepResult& result_;
  std::vector<std::uint32_t> tasks_;  ///< by call
  std::map<const PlannedCall*, CallError> known_;
};

}  // namespace

void add_errors(const StepPlan& plan, const std::function<void(const std::string&)>& progress,
                unsigned threads, StepResult& result) {
  Errors(plan, progress, threads, result).add();
}

}  // namespace equarx::step
