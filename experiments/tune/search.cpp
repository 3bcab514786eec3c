#include "experiments/tune/search.hpp"

#include <algorithm>
#include <set>
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
      queue_.insert({trials_.early_bound_s(space_.candidates[i].family), i, false});
    while (!queue_.empty()) {
      look_ahead();
      const Waiting next = *queue_.begin();
      queue_.erase(queue_.begin());
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

    /// The lowest bound first.
    bool operator<(const Waiting& other) const {
      return std::pair(bound_s, candidate) < std::pair(other.bound_s, other.candidate);
    }
  };

  TuneTrials::Question question(const Waiting& next) const {
    const bool prune = !options_.exhaustive;
    return {next.candidate, prune && !next.has_program,
            [this, bound_s = next.bound_s, prune](double nmse) {
              return !prune || reason_by(bound_s, nmse) == Reason::none;
            }};
  }

  /// Finds out side by side what the next candidate needs, and those after it that will not be left out as far
  /// as is known. Some may be left out when their turn comes: then it was for nothing.
  void look_ahead() {
    const std::size_t most = 4 * std::size_t{values::default_threads()};
    std::vector<TuneTrials::Question> questions;
    for (auto next = queue_.begin(); next != queue_.end() && questions.size() < most; ++next) {
      const std::size_t family = space_.candidates[next->candidate].family;
      const bool stays =
          options_.exhaustive || reason_to_leave_out(next->bound_s, family) == Reason::none;
      const bool open = stays && !trials_.knows(question(*next));
      if (next == queue_.begin() && !open) return;
      if (open) questions.push_back(question(*next));
    }
    trials_.look_ahead(questions);
  }

  /// An obstacle if the candidate cannot be tried.
  plan::MaybeObstacle decide(const Waiting& next) {
    const std::size_t family = space_.candidates[next.candidate].family;
    const bool prune = !options_.exhaustive;
    if (prune && left_out(next.bound_s, family)) return std::nullopt;
    const plan::OrObstacle<double> bound_s =
        prune && next.has_program ? next.bound_s : trials_.bound_s(next.candidate);
    if (const auto* obstacle = std::get_if<plan::Obstacle>(&bound_s)) return *obstacle;
    if (prune && !next.has_program) {
      queue_.insert({std::get<double>(bound_s), next.candidate, true});
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

  /// Why a candidate cannot be on the front.
  enum class Reason { none, too_slow, too_wrong, beaten };

  Reason reason_by(double bound_s, double error) const {
    const TuneLimits& limits = options_.limits;
    const double at_least_s = bound_s * (1.0 - sim::kBoundRounding);
    if (limits.max_time_s && at_least_s > *limits.max_time_s) return Reason::too_slow;
    if (limits.max_nmse && error > *limits.max_nmse) return Reason::too_wrong;
    const bool beaten = std::ranges::any_of(simulated_, [&](const TunedCandidate& other) {
      return other.time_s < at_least_s && other.nmse <= error;
    });
    return beaten ? Reason::beaten : Reason::none;
  }
  Reason reason_to_leave_out(double bound_s, std::size_t family) const {
    return reason_by(bound_s, trials_.known_nmse(family).value_or(floor(family)));
  }

  /// Counts a candidate that cannot be on the front.
  bool left_out(double bound_s, std::size_t family) {
    const Reason reason = reason_to_leave_out(bound_s, family);
    if (reason == Reason::none) return false;
    const bool by_error =
        reason == Reason::too_wrong || (reason == Reason::beaten && !trials_.known_nmse(family));
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
  std::set<Waiting> queue_;
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
