#include "experiments/tune_step/ways.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "experiments/config/algorithm.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/step/group.hpp"
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

/// What may be better than what was tuned, with its error if that is known.
struct Candidate {
  config::CollectiveConfig config;
  std::string label;
  std::optional<double> nmse;
};

/// The front, and each of it in one microshard, which has the same error and fewer instructions.
void add_front(const std::vector<tune::TunedCandidate>& front, std::vector<Candidate>& all) {
  for (const tune::TunedCandidate& candidate : front) {
    config::CollectiveConfig config = candidate.config;
    all.push_back({config, text_of(config), candidate.nmse});
    if (config.microshards == 1) continue;
    config.microshards = 1;
    all.push_back({config, text_of(config), candidate.nmse});
  }
}

/// Formats of what tuning has not tried, in the algorithm and the cut that they have in a configuration which names
/// only them: one of each, which is not much to try.
void add_usual(const std::vector<tune::UntriedCandidates>& untried, config::Algorithm algorithm,
               std::vector<Candidate>& all) {
  std::vector<std::string> known;
  for (const tune::UntriedCandidates& one : untried) {
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
         const tune::TuneOptions& options, step::Planner& planner)
      : config_(config), group_(group), options_(options), planner_(planner) {}

  Ways find(const Progress& progress) {
    const config::StepVariant& baseline = config_.variants[config_.baseline];
    std::vector<config::CollectiveConfig> as_is;
    for (const std::size_t call : group_.calls) as_is.push_back(baseline.collectives[call]);
    if (!collectives::sums(group_.collective)) {
      found_.fixed = fmt::format("{} moves values and sums none, so it is not quantized",
                                 collectives::name(group_.collective));
      found_.ways.push_back(plan::value_or_throw(way("as it is", as_is)));
      return std::move(found_);
    }
    const tune::TuneResult tuned = tune::find_front(
        step::group_experiment(config_, config_.calls[group_.calls.front()], as_is.front()),
        options_, progress);
    add_baseline(std::move(as_is), tuned);
    add_others(tuned, progress);
    refuse_if_none();
    return std::move(found_);
  }

 private:
  /// What all its tasks take.
  plan::OrObstacle<Way> way(const std::string& label,
                            std::vector<config::CollectiveConfig> collectives) {
    Way made{label, std::move(collectives), 0.0, 0.0, 0.0};
    for (std::size_t i = 0; i < group_.calls.size(); ++i) {
      const auto planned = planner_.call(group_.calls[i], made.collectives[i]);
      if (const auto* obstacle = std::get_if<plan::Obstacle>(&planned)) return *obstacle;
      const step::PlannedCall& call = *std::get<std::shared_ptr<const step::PlannedCall>>(planned);
      made.alone_s += group_.tasks[i] * call.alone_s;
      made.core_s += group_.tasks[i] * call.core_s;
    }
    return made;
  }

  /// The largest error of the group's collectives, from that of the first, which tuning has looked at if it is known;
  /// none if one cannot be computed.
  std::optional<double> largest_nmse(const Way& way, std::optional<double> of_first) {
    double largest = of_first.value_or(0.0);
    for (std::size_t i = of_first ? 1 : 0; i < group_.calls.size(); ++i) {
      const config::ExperimentConfig experiment =
          step::group_experiment(config_, config_.calls[group_.calls[i]], way.collectives[i]);
      const auto planned = plan::value_or_throw(planner_.call(group_.calls[i], way.collectives[i]));
      const tune::Finding nmse =
          tune::trial_nmse(planned->plan, experiment, std::numeric_limits<std::uint64_t>::max());
      if (!std::holds_alternative<double>(nmse)) return std::nullopt;
      largest = std::max(largest, std::get<double>(nmse));
    }
    return largest;
  }

  void add_baseline(std::vector<config::CollectiveConfig> as_is, const tune::TuneResult& tuned) {
    Way baseline = plan::value_or_throw(way("as it is", std::move(as_is)));
    const double of_first = tuned.baseline.numerics->against_exact.nmse;
    const std::optional<double> nmse = largest_nmse(baseline, of_first);
    baseline.nmse = nmse.value_or(of_first);
    found_.baseline_within = nmse && *nmse <= most_nmse();
    found_.ways.push_back(std::move(baseline));
  }

  void add_others(const tune::TuneResult& tuned, const Progress& progress) {
    found_.candidates = tuned.counts.candidates;
    found_.not_tried = tuned.counts.not_tried;
    std::vector<Candidate> candidates;
    add_front(tuned.front, candidates);
    add_usual(tuned.untried, usual_algorithm(), candidates);
    add_best_of(candidates, progress);
  }

  config::Algorithm usual_algorithm() const {
    const config::StepCall& first = config_.calls[group_.calls.front()];
    return config::usual_algorithm(
        group_.collective,
        config::group_topology(config_.machine.topology, config_.mesh, first.call));
  }

  void add_best_of(const std::vector<Candidate>& candidates, const Progress& progress) {
    std::vector<std::pair<Way, std::optional<double>>>
        ways;  // with the error of the first collective
    for (const Candidate& candidate : candidates) {
      plan::OrObstacle<Way> made =
          way(candidate.label, std::vector(group_.calls.size(), candidate.config));
      if (std::holds_alternative<Way>(made))
        ways.emplace_back(std::get<Way>(std::move(made)), candidate.nmse);
    }
    std::ranges::stable_sort(ways, {}, [](const auto& one) { return one.first.alone_s; });
    const double as_is_s = found_.ways.front().alone_s;
    const double as_is_core_s = found_.ways.front().core_s;
    double least_core_s = std::numeric_limits<double>::infinity();
    for (auto& [way, of_first] : ways) {
      if (found_.baseline_within && way.alone_s >= as_is_s)
        least_core_s = std::min(least_core_s, as_is_core_s);
      if (way.core_s >= least_core_s) continue;
      progress(fmt::format("computing the error of {}", way.label));
      const std::optional<double> nmse = largest_nmse(way, of_first);
      if (!nmse || *nmse > most_nmse()) continue;
      way.nmse = *nmse;
      least_core_s = way.core_s;
      found_.ways.push_back(std::move(way));
    }
  }

  void refuse_if_none() const {
    if (found_.baseline_within || found_.ways.size() > 1) return;
    throw input::InputError(
        options_.limits.error_option,
        fmt::format("no way to carry out '{}' has so small an error; as it is the SQNR is {:.1f} "
                    "dB: allow that much, or more formats",
                    group_.name, numerics::sqnr_db(found_.ways.front().nmse)));
  }

  double most_nmse() const {
    return options_.limits.max_nmse.value_or(std::numeric_limits<double>::infinity());
  }

  const config::StepConfig& config_;
  const CollectiveGroup& group_;
  const tune::TuneOptions& options_;
  step::Planner& planner_;
  Ways found_;
};

}  // namespace

Ways find_ways(const config::StepConfig& config, const CollectiveGroup& group,
               const tune::TuneOptions& options, step::Planner& planner, const Progress& progress) {
  return Finder(config, group, options, planner).find(progress);
}

}  // namespace equarx::tune_step
