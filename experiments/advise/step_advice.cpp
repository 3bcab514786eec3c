#include "experiments/advise/step_advice.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "experiments/advise/formats.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/step/group.hpp"
#include "experiments/step/run.hpp"
#include "experiments/step/timing.hpp"
#include "experiments/tune_step/search.hpp"
#include "experiments/variation/uncertainty.hpp"

namespace equarx::advise {
namespace {

using tune_step::StepCandidate;
using tune_step::TunedGroup;
using variation::Verdict;

bool is_scaled(const StepCandidate& candidate) {
  return std::ranges::any_of(candidate.collectives,
                             [](const config::CollectiveConfig& one) { return one.format.scaled; });
}

/// The chosen candidate if it is quantized; else the quantized one with the shortest step, or if no
/// step was simulated, the shortest isolated time.
std::optional<std::size_t> quantized_candidate(const TunedGroup& group) {
  if (is_scaled(group.candidates.list[group.chosen])) return group.chosen;
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < group.candidates.list.size(); ++i) {
    if (!is_scaled(group.candidates.list[i])) continue;
    const auto time_s = [&](std::size_t one) { return group.only_s[one].value_or(HUGE_VAL); };
    if (!best || time_s(i) < time_s(*best)) best = i;
  }
  return best;
}

void set_candidate(const TunedGroup& group, const StepCandidate& candidate,
                   config::StepVariant& variant) {
  for (std::size_t k = 0; k < candidate.collectives.size(); ++k)
    variant.collectives[group.group.calls[k]] = candidate.collectives[k];
}

/// Sum of the tensor sizes of a group's tasks, in bytes.
double bytes_of(const config::StepConfig& config, const tune_step::CollectiveGroup& group) {
  double bytes = 0.0;
  for (std::size_t i = 0; i < group.calls.size(); ++i) {
    const steps::CollectiveCall& call = config.calls[group.calls[i]].call;
    bytes += static_cast<double>(call.elements) * numerics::element_bits(call.dtype) / 8.0 *
             group.tasks[i];
  }
  return bytes;
}

/// The step without variants.
config::StepConfig unquantized(const config::StepConfig& config) {
  input::Json json = to_json(config::step_form(config));
  json.erase("variants");
  json.erase("baseline");
  return config::read_step_config(json);
}

/// The plan of the first variants only.
step::StepPlan first_variants(step::StepPlan plan, std::size_t count) {
  plan.variants.resize(count);
  plan.config.variants.resize(count);
  return plan;
}

/// Tunes the algorithms of an unquantized step whose collectives have one type.
void use_fastest_algorithms(const tune_step::Progress& progress, config::StepConfig& config) {
  std::vector<std::string> types;
  for (const config::StepCall& call : config.calls)
    types.emplace_back(numerics::name(call.call.dtype));
  std::ranges::sort(types);
  types.erase(std::unique(types.begin(), types.end()), types.end());
  if (types.size() != 1) return;
  tune::TuneOptions plain;
  plain.formats = types;
  plain.limits.max_nmse = 1.0;
  const auto prefixed = [&](const std::string& text) { progress("unquantized: " + text); };
  config::StepVariant fastest =
      tune_step::find_best(config, plain, prefixed).step.config.variants.back();
  fastest.label = "plain";
  config.variants = {std::move(fastest)};
}

class Adviser {
 public:
  Adviser(const config::StepConfig& config, const tune_step::Progress& progress)
      : config_(config), progress_(progress) {}

  StepAdvice advise(const tune::TuneOptions& options) {
    advice_.tuned = tune_step::find_best(config_, options, progress_);
    begin_groups();
    compare();
    weigh_errors();
    set_verdict();
    return std::move(advice_);
  }

 private:
  /// Position of the advised step in `all_`, after the plain one.
  static constexpr std::size_t kAdvised = 1;

  const std::vector<TunedGroup>& tuned() const { return advice_.tuned.groups; }

  bool is_quantized(const TunedGroup& group) const {
    return is_scaled(group.candidates.list[group.chosen]);
  }

  /// Builds the variants to compare: the baseline, the step as advised, and the step as advised
  /// but for one group, which is quantized if it is not, and the reverse.
  void begin_groups() {
    all_ = advice_.tuned.step.config;
    all_.machine.uncertainty = {};  // sampled here, with the variants of single groups
    config::StepVariant advised = all_.variants.back();
    advised.label = "advised";
    all_.variants.resize(1);
    all_.variants.push_back(advised);
    for (const TunedGroup& group : tuned()) {
      GroupAdvice& one = advice_.groups.emplace_back();
      one.name = group.group.name;
      const std::optional<std::size_t> index = quantized_candidate(group);
      if (!index) {
        one.reason = "no quantized candidate is within the limits";
        continue;
      }
      one.candidate = group.candidates.list[*index];
      config::StepVariant other = advised;
      set_candidate(group, is_quantized(group) ? group.candidates.list.front() : *one.candidate,
                    other);
      other.label = group.group.name;
      toggled_.emplace_back(advice_.groups.size() - 1, all_.variants.size());
      all_.variants.push_back(std::move(other));
    }
  }

  void compare() {
    progress_("comparing the steps");
    const step::StepPlan plan = step::make_plan(all_);
    const bool any =
        std::ranges::any_of(tuned(), [&](const TunedGroup& group) { return is_quantized(group); });
    advice_.compared = step::run_step(first_variants(plan, any ? 2 : 1), progress_);
    const std::vector<sim::StepTime> found = step::find_cuts(plan, 0);
    const variation::Varied runs = step::varied_variants(plan, found, 0);
    std::vector<double> times_s;
    for (const sim::StepTime& time : found) times_s.push_back(time.time_s);
    const std::vector<variation::Timing> nominal =
        variation::timings_of(times_s, plan.config.baseline);
    const double messages = static_cast<double>(advice_.compared.runs.front().messages) *
                            static_cast<double>(plan.variants.size());
    const auto samples = variation::sample(
        runs, variation::with_default_samples(config_.machine.uncertainty, messages), progress_);
    const variation::Varied whole = step::varied_variants(first_variants(plan, 2), found, 0);
    advice_.confidence =
        variation::confidence_in(whole, kAdvised, nominal[kAdvised].speedup, samples, progress_);
    if (any) advice_.compared.runs[kAdvised].uncertainty = advice_.confidence.uncertainty;
    for (const auto& [group, variant] : toggled_) {
      const bool quantized = is_quantized(tuned()[group]);
      const auto gain = [&, variant = variant](const std::vector<variation::Timing>& timings) {
        const double ratio = timings[variant].time_s / timings[kAdvised].time_s;
        return quantized ? ratio : 1.0 / ratio;
      };
      advice_.groups[group].speedup = gain(nominal);
      if (samples.empty()) continue;
      std::vector<double> gains;
      for (const std::vector<variation::Timing>& timings : samples) gains.push_back(gain(timings));
      advice_.groups[group].interval = variation::interval_of(std::move(gains));
    }
  }

  void weigh_errors() {
    double bytes = 0.0;
    for (const TunedGroup& group : tuned()) bytes += bytes_of(config_, group.group);
    for (std::size_t i = 0; i < tuned().size(); ++i) {
      const TunedGroup& group = tuned()[i];
      GroupAdvice& advice = advice_.groups[i];
      advice.share = bytes > 0.0 ? bytes_of(config_, group.group) / bytes : 0.0;
      const double nmse = group.candidates.list[group.chosen].nmse;
      advice_.mean_nmse += advice.share * nmse;
      if (is_quantized(group)) advice_.worst_nmse = std::max(advice_.worst_nmse, nmse);
      if (advice.candidate) advice.break_even = break_even_of(group, *advice.candidate);
    }
  }

  /// Break-even size of the largest collective of a group in isolation.
  std::optional<std::uint64_t> break_even_of(const TunedGroup& group,
                                             const StepCandidate& candidate) const {
    const config::StepCall& call = config_.calls[group.group.calls.front()];
    config::ExperimentConfig experiment =
        step::group_experiment(config_, call, group.candidates.list.front().collectives.front());
    experiment.collectives.front().label = "plain";
    experiment.collectives.push_back(candidate.collectives.front());
    experiment.collectives.back().label = "quantized";
    experiment.baseline = 0;
    experiment.uncertainty = {};
    const auto size = break_even_size(gains_by_size(experiment));
    return size ? std::optional(size->bytes) : std::nullopt;
  }

  /// "yes" and "no" only if no group's own interval includes 1.
  void set_verdict() {
    bool unclear = false;
    for (std::size_t i = 0; i < tuned().size(); ++i) {
      GroupAdvice& group = advice_.groups[i];
      if (!group.candidate) continue;
      std::optional<variation::Uncertainty> uncertainty;
      if (group.interval) uncertainty.emplace().speedup = *group.interval;
      group.verdict = variation::verdict_on(group.speedup, uncertainty);
      if (group.verdict == Verdict::yes && !is_quantized(tuned()[i])) {
        group.verdict = Verdict::no;
        group.reason =
            fmt::format("shortens the step by less than {:.1f} %", 100.0 * tune_step::kLeastGain);
      }
      unclear = unclear || group.verdict == Verdict::unclear;
    }
    if (!advice_.quantizes())
      advice_.verdict = unclear ? Verdict::unclear : Verdict::no;
    else
      advice_.verdict = variation::verdict_on(advice_.speedup(), advice_.confidence.uncertainty);
  }

  const config::StepConfig& config_;
  const tune_step::Progress& progress_;
  config::StepConfig all_;  ///< with the variants to compare
  /// Index of a group, and of the variant in which only it differs from the advised step.
  std::vector<std::pair<std::size_t, std::size_t>> toggled_;
  StepAdvice advice_;
};

}  // namespace

StepAdvice advise_step(const config::StepConfig& given, const tune::TuneOptions& options,
                       const tune_step::Progress& progress) {
  tune_step::check_options(options);
  config::StepConfig config = unquantized(given);
  use_fastest_algorithms(progress, config);
  tune::TuneOptions scaled = options;
  scaled.formats = scaled_formats(options.formats);
  return Adviser(config, progress).advise(scaled);
}

}  // namespace equarx::advise
