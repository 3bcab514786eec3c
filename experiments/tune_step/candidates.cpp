#include "experiments/tune_step/candidates.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "experiments/config/algorithm.hpp"
#include "experiments/config/collective_json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/step/group.hpp"
#include "experiments/step/timing.hpp"
#include "experiments/tune/trials.hpp"
#include "models/numerics/errors/metrics.hpp"

namespace equarx::tune_step {
namespace {

std::string text_of(const config::CollectiveConfig& collective) {
  const numerics::BlockFormat& format = collective.format;
  std::string text = collective.label;
  if (format.scaled) {
    const bool strided = format.layout == numerics::ScaleLayout::strided;
    text += fmt::format(", {} per scale", strided ? collective.elements_per_scale : format.block);
  }
  return text + fmt::format(", {} microshard{}", *collective.microshards,
                            *collective.microshards == 1 ? "" : "s");
}

/// A configuration to evaluate, with its error if already computed.
struct Proposal {
  config::CollectiveConfig config;
  std::string label;
  std::optional<double> nmse;
};

/// Adds the front and its variants with one microshard: same error, fewer instructions.
void add_front(const std::vector<tune::TunedCandidate>& front, std::vector<Proposal>& all) {
  for (const tune::TunedCandidate& tuned : front) {
    config::CollectiveConfig config = tuned.config;
    all.push_back({config, text_of(config), tuned.nmse});
    if (config.microshards == 1) continue;
    config.microshards = 1;
    all.push_back({config, text_of(config), tuned.nmse});
  }
}

/// Adds each skipped format once, with the default algorithm and tiling of a configuration that
/// names only the format.
void add_default(const std::vector<tune::SkippedCandidates>& skipped, config::Algorithm algorithm,
                 std::vector<Proposal>& all) {
  std::vector<std::string> known;
  for (const tune::SkippedCandidates& one : skipped) {
    const config::NamedBlockFormat& format = one.config.format;
    if (!format.scaled || std::ranges::find(known, format.name) != known.end()) continue;
    known.push_back(format.name);
    config::CollectiveConfig config;
    config.algorithm = algorithm;
    config.format = format;
    config.label = fmt::format("{} {}", config::algorithm_name(algorithm), format.name);
    all.push_back({config, config.label, std::nullopt});
  }
}

class Finder {
 public:
  Finder(const config::StepConfig& config, const CollectiveGroup& group,
         const tune::TuneOptions& options, step::Planner& planner, TunedExperiments& tuned)
      : config_(config), group_(group), options_(options), planner_(planner), tuned_(tuned) {}

  GroupCandidates find(const Progress& progress) {
    const config::StepVariant& baseline = config_.variants[config_.baseline];
    std::vector<config::CollectiveConfig> unchanged;
    for (const std::size_t call : group_.calls) unchanged.push_back(baseline.collectives[call]);
    const tune::TuneResult& tuned = tuned_front(unchanged.front(), progress);
    add_baseline(std::move(unchanged), tuned);
    add_others(tuned, progress);
    refuse_if_none();
    return std::move(found_);
  }

 private:
  const tune::TuneResult& tuned_front(const config::CollectiveConfig& unchanged,
                                      const Progress& progress) {
    config::ExperimentConfig experiment =
        step::group_experiment(config_, config_.calls[group_.calls.front()], unchanged);
    const std::string key = to_json(experiment).dump();
    const auto known = tuned_.find(key);
    if (known != tuned_.end()) return known->second;
    return tuned_.emplace(key, tune::find_front(experiment, options_, progress)).first->second;
  }

  /// Finds the times of the group's collectives with each proposal at once.
  void prepare_times(const std::vector<Proposal>& proposals) {
    std::vector<step::CallRequest> requests;
    for (const Proposal& proposal : proposals)
      for (const std::size_t call : group_.calls) requests.push_back({call, proposal.config});
    planner_.prepare_times(requests, step::threads_for(config_, 0));
  }

  /// Sums the times of the group's tasks.
  plan::Expected<StepCandidate> make_candidate(const std::string& label,
                                               std::vector<config::CollectiveConfig> collectives) {
    StepCandidate made{label, std::move(collectives), 0.0, 0.0, 0.0};
    for (std::size_t i = 0; i < group_.calls.size(); ++i) {
      const auto times = planner_.times({group_.calls[i], made.collectives[i]});
      if (!times) return tl::unexpected(times.error());
      made.isolated_s += group_.tasks[i] * times->isolated_s;
      made.core_s += group_.tasks[i] * times->core_s;
    }
    return made;
  }

  /// Returns the largest error of the group's collectives, std::nullopt if one cannot be computed.
  /// `of_first`: error of the first, if known from tuning
  std::optional<double> largest_nmse(const StepCandidate& candidate,
                                     std::optional<double> of_first) {
    double largest = of_first.value_or(0.0);
    for (std::size_t i = of_first ? 1 : 0; i < group_.calls.size(); ++i) {
      const std::optional<double> nmse = nmse_of({group_.calls[i], candidate.collectives[i]});
      if (!nmse) return std::nullopt;
      largest = std::max(largest, *nmse);
    }
    return largest;
  }

  /// Returns the error of a collective, std::nullopt if it cannot be computed. Microshards change no
  /// value.
  std::optional<double> nmse_of(const step::CallRequest& request) {
    const config::StepCall& call = config_.calls[request.call];
    config::CollectiveConfig whole = request.collective;
    whole.label.clear();
    whole.microshards = 1;
    const auto key =
        std::pair(request.call, config::collective_json(whole, call.call.collective).dump());
    if (const auto known = nmse_.find(key); known != nmse_.end()) return known->second;
    const auto planned = plan::value_or_throw(planner_.call(request));
    const tune::ExpectedNmse nmse =
        tune::trial_nmse(planned->plan, step::group_experiment(config_, call, request.collective),
                         std::numeric_limits<std::uint64_t>::max());
    return nmse_.emplace(key, nmse ? std::optional(*nmse) : std::nullopt).first->second;
  }

  void add_baseline(std::vector<config::CollectiveConfig> unchanged,
                    const tune::TuneResult& tuned) {
    StepCandidate baseline = plan::value_or_throw(make_candidate("baseline", std::move(unchanged)));
    const double of_first = tuned.baseline.numerics->against_exact.comparable_nmse();
    const std::optional<double> nmse = largest_nmse(baseline, of_first);
    baseline.nmse = nmse.value_or(of_first);
    found_.baseline_within = nmse && *nmse <= most_nmse();
    found_.list.push_back(std::move(baseline));
  }

  void add_others(const tune::TuneResult& tuned, const Progress& progress) {
    found_.considered = tuned.counts.candidates;
    found_.not_tried = tuned.counts.not_tried;
    std::vector<Proposal> proposals;
    add_front(tuned.front, proposals);
    add_default(tuned.skipped, default_algorithm(), proposals);
    add_best_of(proposals, progress);
  }

  config::Algorithm default_algorithm() const {
    const config::StepCall& first = config_.calls[group_.calls.front()];
    return config::usual_algorithm(group_.collective,
                                   config::group_topology(config_.machine.topology, config_.mesh,
                                                          first.call, config_.graph.chip_lists));
  }

  void add_best_of(const std::vector<Proposal>& proposals, const Progress& progress) {
    std::vector<std::pair<StepCandidate, std::optional<double>>>
        candidates;  // with the error of the first collective
    progress(fmt::format("planning {} candidates for the step", proposals.size()));
    prepare_times(proposals);
    for (const Proposal& proposal : proposals) {
      plan::Expected<StepCandidate> made =
          make_candidate(proposal.label, std::vector(group_.calls.size(), proposal.config));
      if (made) candidates.emplace_back(*std::move(made), proposal.nmse);
    }
    std::ranges::stable_sort(candidates, {}, [](const auto& one) { return one.first.isolated_s; });
    const double baseline_s = found_.list.front().isolated_s;
    const double baseline_core_s = found_.list.front().core_s;
    double least_core_s = std::numeric_limits<double>::infinity();
    for (auto& [candidate, of_first] : candidates) {
      if (found_.baseline_within && candidate.isolated_s >= baseline_s)
        least_core_s = std::min(least_core_s, baseline_core_s);
      if (candidate.core_s >= least_core_s) continue;
      progress(fmt::format("computing the error of {}", candidate.label));
      const std::optional<double> nmse = largest_nmse(candidate, of_first);
      if (!nmse || *nmse > most_nmse()) continue;
      candidate.nmse = *nmse;
      least_core_s = candidate.core_s;
      found_.list.push_back(std::move(candidate));
    }
  }

  void refuse_if_none() const {
    if (found_.baseline_within || found_.list.size() > 1) return;
    throw input::InputError(
        options_.limits.error_option,
        fmt::format(
            "no configuration of '{}' is accurate enough; the baseline has an SQNR of {}: allow "
            "that much, or more formats",
            group_.name, numerics::sqnr_text(numerics::sqnr_db(found_.list.front().nmse), 1)));
  }

  double most_nmse() const {
    return options_.limits.max_nmse.value_or(std::numeric_limits<double>::infinity());
  }

  const config::StepConfig& config_;
  const CollectiveGroup& group_;
  const tune::TuneOptions& options_;
  step::Planner& planner_;
  TunedExperiments& tuned_;
  GroupCandidates found_;
  /// Errors by call and configuration with one microshard.
  std::map<std::pair<std::size_t, std::string>, std::optional<double>> nmse_;
};

}  // namespace

GroupCandidates find_candidates(const config::StepConfig& config, const CollectiveGroup& group,
                                const tune::TuneOptions& options, step::Planner& planner,
                                TunedExperiments& tuned, const Progress& progress) {
  return Finder(config, group, options, planner, tuned).find(progress);
}

}  // namespace equarx::tune_step
