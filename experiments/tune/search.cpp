#include "experiments/tune/search.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/units/quantity.hpp"
#include "experiments/tune/bounds.hpp"

namespace equarx::tune {
namespace {

/// Pareto front of (time, error) pairs.
class Evaluated {
 public:
  void add(double time_s, double nmse) {
    if (least_before(time_s) <= nmse) return;
    const auto first = std::ranges::lower_bound(steps_, time_s, {}, &Step::time_s);
    auto last = first;  // end of the dominated entries
    while (last != steps_.end() && last->nmse >= nmse) ++last;
    if (last == first && first != steps_.end() && first->time_s == time_s) return;
    steps_.insert(steps_.erase(first, last), {time_s, nmse});
  }

  /// Returns the smallest error in less than `time_s`; infinity if none is faster.
  double least_before(double time_s) const {
    const auto after = std::ranges::lower_bound(steps_, time_s, {}, &Step::time_s);
    return after == steps_.begin() ? std::numeric_limits<double>::infinity()
                                   : std::prev(after)->nmse;
  }

 private:
  struct Step {
    double time_s;
    double nmse;
  };
  std::vector<Step> steps_;  ///< ascending time, descending error
};

/// One pass through the space.
class Search {
 public:
  Search(const TuneSpace& space, const TuneOptions& options, Goal goal, bool use_theory,
         TuneTrials& trials, const run::Progress& progress)
      : space_(space),
        options_(options),
        goal_(goal),
        use_theory_(use_theory),
        trials_(trials),
        progress_(progress) {
    counts_.candidates = space.candidates.size();
    counts_.duplicates = space.duplicates;
    counts_.errors = space.families.size();
  }

  void run() {
    for (std::size_t i = 0; i < space_.candidates.size(); ++i) enqueue(i);
    while (!queue_.empty()) {
      look_ahead();
      const Queued next = *queue_.begin();
      queue_.erase(queue_.begin());
      decide(next);
    }
    trials_.look_ahead({});  // cancels speculative work
    for (const Deferred& one : deferred_) skip(one);
    std::ranges::stable_sort(skipped_, {}, &SkippedCandidates::bound_s);
    counts_.errors_computed = trials_.errors_computed();
  }

  TuneFound found() && {
    return {counts_,
            std::move(infeasible_),
            std::move(skipped_),
            std::move(broken_),
            std::move(simulated_),
            !use_theory_};
  }
  bool theory_refuted() const { return theory_refuted_; }

 private:
  struct Queued {
    double bound_s;
    std::size_t candidate;
    double cost_s;  ///< estimated time to simulate it
    bool is_cheap;
    bool has_core = false;     ///< the bound includes core_bound_s()
    bool has_program = false;  ///< the bound is program_bound_s()

    /// Lowest bound first; expensive candidates last.
    bool operator<(const Queued& other) const {
      return std::tuple(!is_cheap, bound_s, candidate) <
             std::tuple(!other.is_cheap, other.bound_s, other.candidate);
    }
  };

  /// A candidate too expensive for the budget so far.
  struct Deferred {
    Queued candidate;
    std::string reason;
  };

  void enqueue(std::size_t candidate) {
    const plan::Expected<double> cost_s = trials_.cost_s(candidate);
    if (!cost_s) return note_infeasible(candidate, cost_s.error());
    const std::size_t family = space_.candidates[candidate].family;
    queue_.insert({.bound_s = trials_.early_bound_s(family),
                   .candidate = candidate,
                   .cost_s = *cost_s,
                   .is_cheap = *cost_s <= options_.most_trial_s,
                   .has_core = candidate == first_candidate(family)});  // of its own program
  }

  bool has_result() const {
    const TuneLimits& limits = options_.limits;
    return std::ranges::any_of(simulated_,
                               [&](const TunedCandidate& one) { return is_within(one, limits); });
  }

  /// Returns why a candidate exceeds the remaining time; empty if it does not. The first result
  /// within the limits is exempt from the budget.
  std::string why_too_long(const Queued& next) const {
    const auto& budget_s = options_.budget_s;
    if (next.is_cheap && (!budget_s || !has_result())) return {};
    if (trials_.has_time(next.candidate)) return {};
    if (budget_s && trials_.elapsed_s() + next.cost_s <= *budget_s) return {};
    if (next.is_cheap) return "the budget is exhausted";
    return fmt::format("simulating it would take about {}", units::time_text(next.cost_s));
  }

  TuneTrials::Key key(const Queued& next) const {
    if (options_.exhaustive)
      return {next.candidate, false, std::numeric_limits<double>::infinity()};
    return {next.candidate, !next.has_program, evaluated_.least_before(at_least_s(next.bound_s))};
  }

  /// Queues speculative work for the pool: bounds, errors and times of the candidates after the
  /// next that would not be pruned if times equalled bounds and errors their predictions. Work for
  /// candidates that are pruned after all is wasted.
  void look_ahead() {
    const std::size_t most = trials_.ahead();
    const auto is_open = [&](const Queued& next, double nmse, const Evaluated& evaluated) {
      return options_.exhaustive || reason_by(next.bound_s, nmse, evaluated) == Reason::none;
    };
    const auto family = [&](const Queued& next) {
      return space_.candidates[next.candidate].family;
    };
    const Queued& first = *queue_.begin();
    if (most == 0 || trials_.is_ready(key(first)) ||
        !is_open(first, least_nmse(family(first)), evaluated_))
      return;
    std::vector<TuneTrials::Key> keys;
    Evaluated expected = evaluated_;
    for (const Queued& next : in_expected_order()) {
      if (keys.size() == most) break;
      const auto nmse = expected_nmse(family(next));
      if (!is_open(next, nmse.value_or(least_nmse(family(next))), expected)) continue;
      if (next.candidate != first.candidate && !trials_.is_ready(key(next)))
        keys.push_back(key(next));
      if (next.has_program && nmse) expected.add(next.bound_s, *nmse);
    }
    trials_.look_ahead(keys);
  }

  /// The front of the queue, up to the first candidate that takes too long, with the core times known
  /// so far, by which decide() will order it.
  std::vector<Queued> in_expected_order() const {
    constexpr std::size_t kSeen = 8;  // times as many as are computed ahead
    std::vector<Queued> order;
    for (const Queued& queued : queue_) {
      if (order.size() == kSeen * trials_.ahead() || !why_too_long(queued).empty()) break;
      if (const std::optional<Queued> next = with_known_core(queued)) order.push_back(*next);
    }
    std::sort(order.begin(), order.end());
    return order;
  }

  /// The candidate with core_bound_s() in its bound; std::nullopt if that is not known
  /// yet, so that its own program may turn out to be needless.
  std::optional<Queued> with_known_core(const Queued& next) const {
    if (next.has_core || options_.exhaustive) return next;
    const auto core_s = trials_.known_core_bound_s(next.candidate);
    if (!core_s) return std::nullopt;
    return with_core(next, *core_s);
  }

  static Queued with_core(Queued next, double core_s) {
    next.bound_s = std::max(next.bound_s, core_s);
    next.has_core = true;
    return next;
  }

  void decide(const Queued& next) {
    const std::size_t family = space_.candidates[next.candidate].family;
    const bool prunes = !options_.exhaustive;
    if (prunes && prune(next.bound_s, family)) return;
    if (const auto broken = trials_.known_broken(family, options_.promises))
      return note_broken(next.candidate, *broken);
    if (std::string why = why_too_long(next); !why.empty()) {
      if (!next.has_program) ++examined_;
      return deferred_.push_back({next, std::move(why)});
    }
    if (prunes && !next.has_core) {
      queue_.insert(with_core(next, trials_.core_bound_s(next.candidate)));
      return;
    }
    if (!next.has_program) ++examined_;
    const plan::Expected<double> bound_s =
        prunes && next.has_program ? next.bound_s : trials_.bound_s(next.candidate);
    if (!bound_s) return note_infeasible(next.candidate, bound_s.error());
    Queued known = next;
    known.bound_s = *bound_s;
    known.has_program = true;
    if (prunes && !next.has_program)
      queue_.insert(known);
    else
      evaluate(known);
  }

  /// Computes error and time of a candidate with a program bound, unless it is pruned.
  void evaluate(const Queued& next) {
    show_progress();
    // With link failures, completion is cheaper to determine than the error.
    if (trials_.may_fail() && !trials_.time(next.candidate).time_s) {
      ++counts_.failed;
      return;
    }
    const std::size_t family = space_.candidates[next.candidate].family;
    const ExpectedNmse nmse = trials_.nmse(family);
    if (!nmse) return note_no_error(next, nmse.error());
    const auto& prediction = trials_.prediction(family);
    if (use_theory_ && prediction && *nmse < prediction->floor) theory_refuted_ = true;
    if (!options_.exhaustive && prune(next.bound_s, family)) return;
    if (const auto broken = trials_.find_broken(family, options_.promises))
      return note_broken(next.candidate, *broken);
    simulate(next.candidate, next.bound_s, *nmse);
  }

  /// Counts a candidate whose error cannot be computed, or defers it if that is too expensive.
  void note_no_error(const Queued& next, const NoNmse& why) {
    if (const auto* infeasible = std::get_if<plan::Infeasible>(&why))
      return note_infeasible(next.candidate, *infeasible);
    deferred_.push_back({next, std::get<Skipped>(why).reason});
  }

  /// Counts an infeasible candidate by its reason.
  void note_infeasible(std::size_t candidate, const plan::Infeasible& infeasible) {
    ++counts_.cannot_run;
    const std::string reason = infeasible.text();
    const auto known = std::ranges::find(infeasible_, reason, &InfeasibleCandidates::reason);
    if (known == infeasible_.end())
      infeasible_.push_back({reason, config_of(space_, space_.candidates[candidate]).label, 1});
    else
      ++known->count;
  }

  void note_broken(std::size_t candidate, const contract::Broken& broken) {
    ++counts_.by_contract;
    const auto known = std::ranges::find(broken_, broken.promise, &BrokenPromises::promise);
    if (known != broken_.end())
      ++known->count;
    else
      broken_.push_back({broken.promise, broken.reason,
                         config_of(space_, space_.candidates[candidate]).label, 1});
  }

  /// Counts a deferred candidate as skipped, or as pruned if it cannot be on the front.
  void skip(const Deferred& one) {
    const Queued& candidate = one.candidate;
    const std::size_t family = space_.candidates[candidate.candidate].family;
    if (!options_.exhaustive && prune(candidate.bound_s, family)) return;
    ++counts_.not_tried;
    const auto [place, is_new] = skipped_of_.try_emplace(family, skipped_.size());
    if (is_new) skipped_.push_back(skipped(one));
    SkippedCandidates& group = skipped_[place->second];
    ++group.count;
    group.cost_s += candidate.cost_s;
    if (candidate.bound_s >= group.bound_s) return;
    group.config = config_of(space_, space_.candidates[candidate.candidate]);
    group.bound_s = candidate.bound_s;
  }

  SkippedCandidates skipped(const Deferred& one) const {
    const TuneCandidate& candidate = space_.candidates[one.candidate.candidate];
    return {.config = config_of(space_, candidate),
            .bound_s = one.candidate.bound_s,
            .nmse_floor = least_nmse(candidate.family),
            .reason = one.reason};
  }

  /// Lower bound minus the rounding of simulated times.
  static double at_least_s(double bound_s) { return bound_s * (1.0 - sim::kBoundRounding); }

  /// Reason why a candidate cannot be on the front.
  enum class Reason { none, too_slow, too_wrong, beaten };

  Reason reason_by(double bound_s, double error, const Evaluated& evaluated) const {
    const TuneLimits& limits = options_.limits;
    if (limits.max_time_s && at_least_s(bound_s) > *limits.max_time_s) return Reason::too_slow;
    if (limits.max_nmse && error > *limits.max_nmse) return Reason::too_wrong;
    return evaluated.least_before(at_least_s(bound_s)) <= error ? Reason::beaten : Reason::none;
  }
  Reason prune_reason(double bound_s, std::size_t family) const {
    return reason_by(bound_s, least_nmse(family), evaluated_);
  }

  /// Counts and prunes a candidate that cannot be on the front; returns false if it can.
  bool prune(double bound_s, std::size_t family) {
    const Reason reason = prune_reason(bound_s, family);
    if (reason == Reason::none) return false;
    const bool by_error =
        reason == Reason::too_wrong || (reason == Reason::beaten && !trials_.computed_nmse(family));
    ++(by_error ? counts_.by_error : counts_.by_bound);
    return true;
  }

  /// Lower bound on an error that has not been computed.
  double floor(std::size_t family) const {
    const auto& prediction = trials_.prediction(family);
    return use_theory_ && prediction ? prediction->floor : 0.0;
  }

  /// Computed error, or its floor.
  double least_nmse(std::size_t family) const {
    return trials_.computed_nmse(family).value_or(floor(family));
  }

  /// Computed error, or its prediction if theory applies.
  std::optional<double> expected_nmse(std::size_t family) const {
    const auto& prediction = trials_.prediction(family);
    const std::optional<double> known = trials_.computed_nmse(family);
    return known || !prediction ? known : prediction->nmse;
  }

  void simulate(std::size_t candidate, double bound_s, double nmse) {
    const TuneTrials::Time& time = trials_.time(candidate);
    ++counts_.simulated;
    const bool counts =
        goal_ == Goal::front || !options_.limits.max_nmse || nmse <= *options_.limits.max_nmse;
    if (counts) evaluated_.add(*time.time_s, goal_ == Goal::fastest ? 0.0 : nmse);
    const auto& prediction = trials_.prediction(space_.candidates[candidate].family);
    simulated_.push_back(
        {.index = candidate,
         .config = config_of(space_, space_.candidates[candidate]),
         .time_s = *time.time_s,
         .bound_s = bound_s,
         .nmse = nmse,
         .theory_nmse = prediction ? std::optional(prediction->nmse) : std::nullopt,
         .minishards = time.minishards});
  }

  /// Open candidates are counted as if none pruned another, so the remaining time is an upper
  /// bound.
  void show_progress() {
    constexpr double kEvery = 0.5;  // seconds
    const double now_s = trials_.elapsed_s();
    if (now_s - shown_s_ < kEvery) return;
    shown_s_ = now_s;
    const auto open = static_cast<double>(std::ranges::count_if(queue_, [&](const Queued& one) {
      return options_.exhaustive ||
             prune_reason(one.bound_s, space_.candidates[one.candidate].family) == Reason::none;
    }));
    const auto examined = static_cast<double>(examined_);
    progress_(fmt::format("{:.0f} % of about {:.0f} open candidates, {} simulated, up to {} left",
                          100.0 * examined / (examined + open), examined + open, counts_.simulated,
                          units::time_text(now_s * open / examined)));
  }

  const TuneSpace& space_;
  const TuneOptions& options_;
  Goal goal_;
  bool use_theory_;
  TuneTrials& trials_;
  const run::Progress& progress_;
  double shown_s_ = 0.0;      ///< time of the last progress message
  std::size_t examined_ = 0;  ///< candidates not pruned by their early bound
  std::set<Queued> queue_;
  std::vector<Deferred> deferred_;
  std::vector<TunedCandidate> simulated_;
  Evaluated evaluated_;  ///< simulated candidates
  TuneCounts counts_;
  std::vector<InfeasibleCandidates> infeasible_;
  std::vector<SkippedCandidates> skipped_;
  std::vector<BrokenPromises> broken_;
  std::map<std::size_t, std::size_t> skipped_of_;  ///< index into skipped_, by family
  bool theory_refuted_ = false;
};

}  // namespace

TuneFound search(const TuneSpace& space, const TuneOptions& options, Goal goal, TuneTrials& trials,
                 const run::Progress& progress) {
  Search pass(space, options, goal, true, trials, progress);
  pass.run();
  if (!pass.theory_refuted()) return std::move(pass).found();
  Search again(space, options, goal, false, trials, progress);
  again.run();
  return std::move(again).found();
}

}  // namespace equarx::tune
