#include "experiments/tune/search.hpp"

#include <algorithm>
#include <queue>
#include <utility>

#include <fmt/format.h>

#include "experiments/input/json.hpp"
#include "experiments/tune/bounds.hpp"

namespace equarx::tune {
namespace {

/// One pass through the space.
class Search {
 public:
  Search(const TuneSpace& space, const TuneOptions& options, bool use_theory, TuneTrials& trials,
         const run::Progress& progress)
      : space_(space),
        options_(options),
        use_theory_(use_theory),
        trials_(trials),
        progress_(progress) {
    counts_.candidates = space.candidates.size();
    counts_.duplicates = space.duplicates;
    counts_.errors = space.families.size();
  }

  void run() {
    for (std::size_t i = 0; i < space_.candidates.size(); ++i)
      queue_.push({trials_.early_bound_s(space_.candidates[i].family), i, false});
    while (!queue_.empty()) {
      const Waiting next = queue_.top();
      queue_.pop();
      if (const plan::MaybeObstacle obstacle = decide(next)) set_aside(next.candidate, *obstacle);
    }
    counts_.errors_computed = trials_.errors_computed();
  }

  TuneFound found() && { return {counts_, std::move(unfit_), std::move(simulated_), !use_theory_}; }
  bool theory_refuted() const { return theory_refuted_; }

 private:
  struct Waiting {
    double bound_s;
    std::size_t candidate;
    bool has_program;  ///< the bound is that of its program

    /// For a queue whose top is the lowest bound.
    bool operator<(const Waiting& other) const {
      return std::pair(bound_s, candidate) > std::pair(other.bound_s, other.candidate);
    }
  };

  /// An obstacle if the candidate cannot be tried.
  plan::MaybeObstacle decide(const Waiting& next) {
    const std::size_t family = space_.candidates[next.candidate].family;
    const bool prune = !options_.exhaustive;
    if (prune && left_out(next.bound_s, family)) return std::nullopt;
    const plan::OrObstacle<double> bound_s =
        prune && next.has_program ? next.bound_s : trials_.bound_s(next.candidate);
    if (const auto* obstacle = std::get_if<plan::Obstacle>(&bound_s)) return *obstacle;
    if (prune && !next.has_program) {
      queue_.push({std::get<double>(bound_s), next.candidate, true});
      return std::nullopt;
    }
    const plan::OrObstacle<double> nmse = trials_.nmse(family);
    if (const auto* obstacle = std::get_if<plan::Obstacle>(&nmse)) return *obstacle;
    const auto& prediction = trials_.prediction(family);
    if (use_theory_ && prediction && std::get<double>(nmse) < prediction->floor)
      theory_refuted_ = true;
    if (prune && left_out(next.bound_s, family)) return std::nullopt;
    simulate(next.candidate, std::get<double>(bound_s), std::get<double>(nmse));
    return std::nullopt;
  }

  /// Counts a candidate that cannot be tried, by the reason.
  void set_aside(std::size_t candidate, const plan::Obstacle& obstacle) {
    ++counts_.unfit;
    const std::string reason = obstacle.text();
    const auto known = std::ranges::find(unfit_, reason, &UnfitCandidates::reason);
    if (known == unfit_.end())
      unfit_.push_back({reason, config_of(space_, space_.candidates[candidate]).label, 1});
    else
      ++known->count;
  }

  /// Counts a candidate that cannot be on the front.
  bool left_out(double bound_s, std::size_t family) {
    const TuneLimits& limits = options_.limits;
    const double at_least_s = bound_s * (1.0 - sim::kBoundRounding);
    const std::optional<double> known = trials_.known_nmse(family);
    const double error = known.value_or(floor(family));
    const bool too_slow = limits.max_time_s && at_least_s > *limits.max_time_s;
    const bool too_wrong = limits.max_nmse && error > *limits.max_nmse;
    const bool beaten = std::ranges::any_of(simulated_, [&](const TunedCandidate& other) {
      return other.time_s < at_least_s && other.nmse <= error;
    });
    if (!too_slow && !too_wrong && !beaten) return false;
    const bool by_error = !too_slow && (too_wrong || !known);
    ++(by_error ? counts_.by_error : counts_.by_bound);
    return true;
  }

  /// Of an error that is not known.
  double floor(std::size_t family) const {
    const auto& prediction = trials_.prediction(family);
    return use_theory_ && prediction ? prediction->floor : 0.0;
  }

  void simulate(std::size_t candidate, double bound_s, double nmse) {
    progress_(fmt::format(
        "{} of {} candidates decided, {} simulated",
        counts_.by_bound + counts_.by_error + counts_.unfit + counts_.failed + counts_.simulated,
        counts_.candidates, counts_.simulated));
    const TuneTrials::Time& time = trials_.time(candidate);
    if (!time.time_s) {
      ++counts_.failed;
      return;
    }
    ++counts_.simulated;
    const auto& prediction = trials_.prediction(space_.candidates[candidate].family);
    simulated_.push_back(
        {candidate, config_of(space_, space_.candidates[candidate]), *time.time_s, bound_s, nmse,
         prediction ? std::optional(prediction->nmse) : std::nullopt, time.minishards});
  }

  const TuneSpace& space_;
  const TuneOptions& options_;
  bool use_theory_;
  TuneTrials& trials_;
  const run::Progress& progress_;
  std::priority_queue<Waiting> queue_;
  std::vector<TunedCandidate> simulated_;
  TuneCounts counts_;
  std::vector<UnfitCandidates> unfit_;
  bool theory_refuted_ = false;
};

}  // namespace

TuneFound search(const TuneSpace& space, const TuneOptions& options, TuneTrials& trials,
                 const run::Progress& progress) {
  Search pass(space, options, true, trials, progress);
  pass.run();
  if (!pass.theory_refuted()) return std::move(pass).found();
  Search again(space, options, false, trials, progress);
  again.run();
  return std::move(again).found();
}

}  // namespace equarx::tune
