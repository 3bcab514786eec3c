#include "experiments/tune/tune.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/errors.hpp"
#include "base/output/table.hpp"
#include "base/process/parallel_for.hpp"
#include "base/units/quantity.hpp"
#include "experiments/tune/search.hpp"
#include "experiments/tune/trials.hpp"
#include "models/numerics/errors/metrics.hpp"

namespace equarx::tune {
namespace {

/// Memory limit for computing one error without a budget.
constexpr std::uint64_t kMostTrialBytes = std::uint64_t{2} << 30;
constexpr std::uint64_t kAnyBytes = std::numeric_limits<std::uint64_t>::max();

/// Error in steps of 0.1 dB, the accuracy of a sample; increases with the error.
double error_step(double nmse) {
  constexpr double kStepsPerDecibel = 10.0;
  return std::round(-numerics::sqnr_db(nmse) * kStepsPerDecibel);
}

/// Splits simulated candidates into the front and the others.
void sort_out(std::vector<TunedCandidate> simulated, const TuneLimits& limits, TuneResult& result) {
  std::ranges::sort(simulated, [](const TunedCandidate& one, const TunedCandidate& other) {
    return std::tuple(one.time_s, error_step(one.nmse), one.index) <
           std::tuple(other.time_s, error_step(other.nmse), other.index);
  });
  double least = std::numeric_limits<double>::infinity();
  for (TunedCandidate& candidate : simulated) {
    const double error = error_step(candidate.nmse);
    const bool better = is_within(candidate, limits) && error < least;
    if (better) least = error;
    (better ? result.front : result.others).push_back(std::move(candidate));
  }
}

/// Throws the reason why no candidate was simulated to completion.
[[noreturn]] void refuse_everything(const TuneCounts& counts,
                                    const std::vector<SkippedCandidates>& skipped) {
  if (counts.failed > 0)
    throw input::InputError(
        "/faults/links",
        fmt::format("no candidate{} can complete: links fail before; let them fail "
                    "later, or avoid them",
                    skipped.empty() ? "" : " within the budget"));
  if (skipped.empty()) throw input::InputError("", "no candidate can complete");
  throw input::InputError(
      "--budget", fmt::format("every candidate was skipped: {}: {}; allow more time, like '10 min'",
                              skipped.front().config.label, skipped.front().reason));
}

/// Throws with the candidate nearest to the limits. `front`: computed without limits.
[[noreturn]] void refuse_limits(const std::vector<TunedCandidate>& front,
                                const std::vector<SkippedCandidates>& skipped,
                                const TuneLimits& limits) {
  const std::string_view more =
      skipped.empty() ? "" : "; some candidates were skipped: --budget allows more time";
  const TunedCandidate& fastest = front.front();
  const TunedCandidate& most_accurate = front.back();
  if (limits.max_time_s && fastest.time_s > *limits.max_time_s)
    throw input::InputError(
        "--max-time", fmt::format("no candidate is faster than {} ({}); allow that much{}",
                                  units::time_text(fastest.time_s), fastest.config.label, more));
  if (limits.max_nmse && most_accurate.nmse > *limits.max_nmse)
    throw input::InputError(
        limits.error_option,
        fmt::format(
            "no configuration is accurate enough; the most accurate is {}: NMSE {:.3g} (SQNR "
            "{}); allow that much, or more formats{}",
            most_accurate.config.label, most_accurate.nmse,
            numerics::sqnr_text(numerics::sqnr_db(most_accurate.nmse)), more));
  const auto accurate = std::ranges::find_if(
      front, [&](const TunedCandidate& one) { return one.nmse <= *limits.max_nmse; });
  const TunedCandidate& in_time = *std::prev(accurate);
  throw input::InputError(
      "--max-time",
      fmt::format("no candidate meets both limits: {} takes {}, and the most accurate within the "
                  "time is {} "
                  "with NMSE {:.3g} (SQNR {}); relax one of the limits{}",
                  accurate->config.label, units::time_text(accurate->time_s), in_time.config.label,
                  in_time.nmse, numerics::sqnr_text(numerics::sqnr_db(in_time.nmse)), more));
}

run::ExperimentResult run_baseline(const config::ExperimentConfig& config,
                                   const run::Progress& progress) {
  config::ExperimentConfig one = with_collective(config, config.collectives[config.baseline]);
  one.numerics = true;
  one.tensor.sample = trial_sample(config.tensor);
  return run::run_experiment(plan::make_plan(one, plan::RunProfile::batch), progress);
}

/// State of one tuning.
class Tuning {
 public:
  Tuning(const config::ExperimentConfig& config, const TuneOptions& options,
         const run::Progress& progress)
      : options_(options),
        progress_(progress),
        space_(enumerate(config, tune_formats(options.formats))) {
    result_.config = with_collective(config, config.collectives[config.baseline]);
    result_.baseline_index = config.baseline;
    result_.options = options;
    result_.infeasible_schemes = space_.infeasible_schemes;
    run::ExperimentResult baseline = run_baseline(config, progress);
    result_.baseline = std::move(baseline.runs.front());
    nonfinite_inputs_ = values::texts_of(baseline.nonfinite_inputs);
    result_.nonfinite_inputs = std::move(baseline.nonfinite_inputs);
    result_.sampled_fraction = result_.baseline.numerics->sampled_fraction;
    trials_.emplace(config, space_, options.budget_s ? kAnyBytes : kMostTrialBytes);
  }

  TuneResult find() {
    TuneFound found = search(space_, options_, *trials_, progress_);
    result_.counts = found.counts;
    result_.infeasible = std::move(found.infeasible);
    result_.skipped = std::move(found.skipped);
    result_.theory_refuted = found.theory_refuted;
    sort_out(std::move(found.simulated), options_.limits, result_);
    if (options_.limits.max_time_s && !options_.limits.max_nmse && !result_.front.empty())
      result_.best = result_.front.size() - 1;
    return std::move(result_);
  }

  /// Throws the reason why no candidate is within the limits.
  [[noreturn]] void refuse() {
    TuneOptions unlimited = options_;
    unlimited.limits = {};
    TuneFound all = search(space_, unlimited, *trials_, progress_);
    TuneResult result;
    sort_out(std::move(all.simulated), {}, result);
    if (result.front.empty() && !nonfinite_inputs_.empty())
      throw input::InputError(
          "/tensor/values",
          fmt::format("{}; every candidate spreads this to other elements, so replace it",
                      fmt::join(nonfinite_inputs_, ", ")));
    if (result.front.empty()) refuse_everything(all.counts, all.skipped);
    refuse_limits(result.front, all.skipped, options_.limits);
  }

 private:
  const TuneOptions& options_;
  const run::Progress& progress_;
  TuneSpace space_;
  TuneResult result_;
  std::optional<TuneTrials> trials_;
  std::vector<std::string> nonfinite_inputs_;  ///< for people
};

}  // namespace

bool is_within(const TunedCandidate& candidate, const TuneLimits& limits) {
  return candidate.nmse <= limits.max_nmse.value_or(std::numeric_limits<double>::infinity()) &&
         candidate.time_s <= limits.max_time_s.value_or(std::numeric_limits<double>::infinity());
}

TuneResult find_front(const config::ExperimentConfig& config, const TuneOptions& options,
                      const run::Progress& progress) {
  return Tuning(config, options, progress).find();
}

TuneResult tune(const config::ExperimentConfig& config, const TuneOptions& options,
                const run::Progress& progress) {
  Tuning tuning(config, options, progress);
  TuneResult result = tuning.find();
  if (result.front.empty()) tuning.refuse();
  return result;
}

}  // namespace equarx::tune
