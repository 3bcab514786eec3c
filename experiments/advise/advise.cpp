#include "experiments/advise/advise.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "experiments/advise/formats.hpp"
#include "experiments/run/varied.hpp"
#include "experiments/variation/uncertainty.hpp"

namespace equarx::advise {
namespace {

using tune::TunedCandidate;

bool is_scaled(const TunedCandidate& candidate) { return candidate.config.format.scaled; }

/// The requested scaled formats (all of them if `requested` is empty), plus the tensor's own type.
std::vector<std::string> formats_of(const config::ExperimentConfig& config,
                                    const std::vector<std::string>& requested) {
  std::vector<std::string> names = scaled_formats(requested);
  const std::string own(numerics::name(config.tensor.dtype));
  if (std::ranges::find(names, own) == names.end()) names.push_back(own);
  return names;
}

/// All simulated candidates, fastest first.
std::vector<TunedCandidate> simulated(const tune::TuneResult& tuned) {
  std::vector<TunedCandidate> all = tuned.front;
  all.insert(all.end(), tuned.others.begin(), tuned.others.end());
  std::ranges::stable_sort(all, {}, &TunedCandidate::time_s);
  return all;
}

/// The baseline as a candidate: the reference if every plain candidate was pruned.
TunedCandidate baseline(const tune::TuneResult& tuned) {
  TunedCandidate candidate;
  candidate.config = tuned.config.collectives.front();
  candidate.config.algorithm = tuned.baseline.algorithm;
  candidate.time_s = tuned.baseline.time_s;
  candidate.nmse = tuned.baseline.numerics->against_exact.comparable_nmse();
  return candidate;
}

TunedCandidate fastest_plain(const tune::TuneResult& tuned) {
  const std::vector<TunedCandidate> all = simulated(tuned);
  const auto plain = std::ranges::find_if_not(all, is_scaled);
  const TunedCandidate base = baseline(tuned);
  const bool base_counts =
      !is_scaled(base) && !tuned.baseline.failure && !tune::broken_by_baseline(tuned);
  if (plain != all.end() && (!base_counts || plain->time_s <= base.time_s)) return *plain;
  if (base_counts) return base;
  const bool promised = !tuned.options.promises.empty();
  throw input::InputError(
      promised ? "--contract" : "",
      fmt::format("no plain algorithm {} here, so there is no reference to compare with",
                  promised ? "keeps these promises" : "can run"));
}

/// Sets `quantized` to the fastest quantized candidate within the limits, or else `nearest` to the
/// quantized candidate with the smallest error.
void find_quantized(const config::ExperimentConfig& config, tune::TuneOptions options,
                    const run::Progress& progress, Advice& advice) {
  const auto found = std::ranges::find_if(advice.tuned.front, is_scaled);
  if (found != advice.tuned.front.end()) {
    advice.quantized = *found;
    return;
  }
  // No quantized candidate is on the front: plain ones dominate, or none is within the limits.
  const double most = options.limits.max_nmse.value_or(std::numeric_limits<double>::infinity());
  options.limits = {};
  std::erase(options.formats, std::string(numerics::name(config.tensor.dtype)));
  const bool promised = !options.promises.empty();
  const tune::TuneResult tuned = promised ? tune::find_front(config, options, progress)
                                          : tune::tune(config, options, progress);
  if (tuned.front.empty() && !tuned.broken.empty())
    advice.broken = *std::ranges::max_element(tuned.broken, {}, &tune::BrokenPromises::count);
  if (tuned.front.empty()) return;
  const auto within = std::ranges::find_if(
      tuned.front, [&](const TunedCandidate& one) { return one.nmse <= most; });
  if (within != tuned.front.end())
    advice.quantized = *within;
  else
    advice.nearest = tuned.front.back();
}

/// The plain collective and the quantized one, if any, in this order.
config::ExperimentConfig compared_collectives(const config::ExperimentConfig& config,
                                              const Advice& advice) {
  config::ExperimentConfig both = config;
  both.collectives = {advice.plain.config};
  both.collectives.front().label = "plain";
  if (advice.quantized) {
    both.collectives.push_back(advice.quantized->config);
    both.collectives.back().label = "quantized";
  }
  both.baseline = 0;
  both.numerics = false;
  both.uncertainty = {};
  return both;
}

}  // namespace

Advice advise(const config::ExperimentConfig& config, tune::TuneOptions options,
              const run::Progress& progress) {
  options.formats = formats_of(config, options.formats);
  options.promise_costs = false;
  Advice advice;
  advice.tuned = tune::tune(config, options, progress);
  advice.plain = fastest_plain(advice.tuned);
  find_quantized(config, options, progress, advice);
  const config::ExperimentConfig both = compared_collectives(config, advice);
  advice.compared = run::run_experiment(plan::make_plan(both, plan::RunProfile::batch), progress);
  if (!advice.quantized) return advice;
  run::ExperimentResult& compared = advice.compared;
  if (!compared.has_failed()) {
    const variation::Varied runs = run::varied_runs(compared, 0);
    config::UncertaintyConfig requested = config.uncertainty;
    requested.request();
    advice.confidence =
        variation::confidence_in(runs, 1, *compared.runs.back().speedup,
                                 variation::sample(runs, requested, progress), progress);
  }
  compared.runs.back().uncertainty = advice.confidence.uncertainty;
  advice.sizes = gains_by_size(both);
  advice.verdict = variation::verdict_on(advice.speedup(), advice.confidence.uncertainty);
  return advice;
}

}  // namespace equarx::advise
