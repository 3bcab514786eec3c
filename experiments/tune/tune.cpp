#include "experiments/tune/tune.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/errors.hpp"
#include "base/output/table.hpp"
#include "base/process/parallel_for.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/counts_json.hpp"
#include "experiments/config/own_format.hpp"
#include "experiments/plan/activity.hpp"
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

/// Throws with the promise that most candidates break. `broken`: not empty
[[noreturn]] void refuse_promises(const std::vector<BrokenPromises>& broken) {
  const BrokenPromises& most = *std::ranges::max_element(broken, {}, &BrokenPromises::count);
  throw input::InputError(
      "--contract",
      fmt::format("no candidate keeps all promises; {} of them break {} ({}: {}); remove it, or "
                  "allow more formats",
                  most.count, contract::name(most.promise), most.example, most.reason));
}

/// Refuses what no candidate of formats with scales alone can keep.
void check_formats(const TuneOptions& options) {
  const bool once = std::ranges::find(options.promises, contract::Promise::one_rounding) !=
                    options.promises.end();
  if (once && std::ranges::all_of(tune_formats(options.formats), &config::NamedBlockFormat::scaled))
    throw input::InputError("--contract",
                            "'one-rounding' excludes every format with scales, which rounds terms "
                            "before their sum; remove it, or allow a format like bf16");
}

run::ExperimentResult run_baseline(const config::ExperimentConfig& config,
                                   const run::Progress& progress) {
  config::ExperimentConfig one = with_collective(config, config.collectives[config.baseline]);
  one.numerics = true;
  one.tensor.sample = trial_sample(config.tensor);
  return run::run_experiment(plan::make_plan(one, plan::RunProfile::batch), progress);
}

TuneSpace make_space(const config::ExperimentConfig& config, const TuneOptions& options) {
  config::reject_counts(config);
  if (!options.promises.empty()) {
    config::ExperimentConfig whole = config;
    whole.tensor.sample = 1.0;  // the best candidate is checked on all elements
    contract::check(whole);
  }
  return enumerate(config, tune_formats(options.formats), !options.promises.empty());
}

/// State of one tuning.
class Tuning {
 public:
  Tuning(const config::ExperimentConfig& config, const TuneOptions& options,
         const run::Progress& progress)
      : options_(options), progress_(progress), space_(make_space(config, options)) {
    config::check_has_values(config.collectives[config.baseline],
                             fmt::format("/collectives/{}/format", config.baseline));
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
    do find_front();
    while (best_breaks_promise());
    if (!options_.promises.empty() && options_.promise_costs) find_costs();
    for (TunedCandidate& candidate : result_.front) candidate.expenses = expenses_of(candidate);
    return std::move(result_);
  }

  /// Throws the reason why no candidate is within the limits.
  [[noreturn]] void refuse() {
    TuneOptions unlimited = options_;
    unlimited.limits = {};
    TuneFound all = search(space_, unlimited, Goal::front, *trials_, progress_);
    TuneResult result;
    sort_out(std::move(all.simulated), {}, result);
    if (result.front.empty() && !nonfinite_inputs_.empty())
      throw input::InputError(
          "/tensor/values",
          fmt::format("{}; every candidate spreads this to other elements, so replace it",
                      fmt::join(nonfinite_inputs_, ", ")));
    if (result.front.empty() && !all.broken.empty()) refuse_promises(all.broken);
    if (result.front.empty()) refuse_everything(all.counts, all.skipped);
    refuse_limits(result.front, all.skipped, options_.limits);
  }

 private:
  void find_front() {
    TuneFound found = search(space_, options_, Goal::front, *trials_, progress_);
    result_.counts = found.counts;
    result_.infeasible = std::move(found.infeasible);
    result_.skipped = std::move(found.skipped);
    result_.broken = std::move(found.broken);
    result_.theory_refuted = found.theory_refuted;
    result_.front.clear();
    result_.others.clear();
    sort_out(std::move(found.simulated), options_.limits, result_);
    if (options_.limits.max_time_s && !options_.limits.max_nmse && !result_.front.empty())
      result_.best = result_.front.size() - 1;
  }

  /// Checks the best candidate on all elements, and notes a promise that it breaks.
  bool best_breaks_promise() {
    if (options_.promises.empty() || result_.front.empty()) return false;
    return breaks(result_.front[result_.best], options_.promises);
  }

  bool breaks(const TunedCandidate& candidate, std::span<const contract::Promise> promises) {
    config::ExperimentConfig config = with_collective(result_.config, candidate.config);
    config.tensor.sample = 1.0;
    const auto broken = contract::find_broken(config, promises, 1.0, values::default_threads());
    if (broken) trials_->note_broken(space_.candidates[candidate.index].family, *broken);
    return broken.has_value();
  }

  hardware::Expenses expenses_of(const TunedCandidate& candidate) const {
    const plan::Plan plan =
        plan::make_plan(with_collective(result_.config, candidate.config), plan::RunProfile::batch);
    return plan::collective_expenses(plan.collectives.front().candidates.front(), plan.config,
                                     candidate.time_s);
  }

  /// Fills in TuneResult::promise_costs.
  void find_costs() {
    std::vector<std::vector<contract::Promise>> goals = {{}};
    for (const contract::Promise promise : options_.promises) goals.push_back({promise});
    if (options_.promises.size() > 1) goals.push_back(options_.promises);
    for (std::vector<contract::Promise>& goal : goals) {
      progress_(fmt::format("cost of {}", contract::names_text(goal)));
      std::optional<TunedCandidate> fastest;
      do fastest = find_fastest(goal);
      while (fastest && !goal.empty() && breaks(*fastest, goal));
      result_.promise_costs.push_back({std::move(goal), std::move(fastest)});
    }
  }

  std::optional<TunedCandidate> find_fastest(const std::vector<contract::Promise>& promises) {
    TuneOptions options = options_;
    options.promises = promises;
    options.exhaustive = false;
    TuneFound found = search(space_, options, Goal::fastest, *trials_, progress_);
    std::erase_if(found.simulated, [&](const TunedCandidate& candidate) {
      return !is_within(candidate, options.limits);
    });
    const auto fastest =
        std::ranges::min_element(found.simulated, {}, [](const TunedCandidate& candidate) {
          return std::pair(candidate.time_s, candidate.index);
        });
    return fastest == found.simulated.end() ? std::nullopt : std::optional(*fastest);
  }

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

std::optional<contract::Broken> broken_by_baseline(const TuneResult& result) {
  if (result.options.promises.empty()) return std::nullopt;
  config::CollectiveConfig collective = result.config.collectives.front();
  collective.algorithm = result.baseline.algorithm;
  if (result.baseline.cut) {
    collective.minishards = result.baseline.cut->minishards;
    collective.microshards = result.baseline.cut->microshards;
  }
  config::ExperimentConfig config = with_collective(result.config, collective);
  config.tensor.sample = 1.0;
  return contract::find_broken(config, result.options.promises, result.sampled_fraction,
                               values::default_threads());
}

TuneResult find_front(const config::ExperimentConfig& config, const TuneOptions& options,
                      const run::Progress& progress) {
  return Tuning(config, options, progress).find();
}

TuneResult tune(const config::ExperimentConfig& config, const TuneOptions& options,
                const run::Progress& progress) {
  check_formats(options);
  Tuning tuning(config, options, progress);
  TuneResult result = tuning.find();
  if (result.front.empty()) tuning.refuse();
  return result;
}

}  // namespace equarx::tune
