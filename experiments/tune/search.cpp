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

#include "experiments/input/json.hpp"
#include "experiments/tune/bounds.hpp"
#include "models/units/quantity.hpp"

namespace equarx::tune {
namespace {

/// The errors that candidates reach, by the time that they take.
class Reached {
 public:
  void add(double time_s, double nmse) {
    if (least_before(time_s) <= nmse) return;
    const auto first = std::ranges::lower_bound(steps_, time_s, {}, &Step::time_s);
    auto last = first;  // of those that it is at least as good as
    while (last != steps_.end() && last->nmse >= nmse) ++last;
    if (last == first && first != steps_.end() && first->time_s == time_s) return;
    steps_.insert(steps_.erase(first, last), {time_s, nmse});
  }

  /// The smallest error in less time than that; infinity if there is none.
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
  std::vector<Step> steps_;  ///< the longer the time, the smaller the error
};

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
    for (std::size_t i = 0; i < space_.candidates.size(); ++i) enqueue(i);
    while (!queue_.empty()) {
      look_ahead();
      const Waiting next = *queue_.begin();
      queue_.erase(queue_.begin());
      decide(next);
    }
    trials_.look_ahead({});  // nothing more will be asked
    for (const PutOff& one : put_off_) settle(one);
    std::ranges::stable_sort(untried_, {}, &UntriedCandidates::bound_s);
    counts_.errors_computed = trials_.errors_computed();
  }

  TuneFound found() && {
    return {counts_, std::move(unfit_), std::move(untried_), std::move(simulated_), !use_theory_};
  }
  bool theory_refuted() const { return theory_refuted_; }

 private:
  struct Waiting {
    double bound_s;
    std::size_t candidate;
    double cost_s;  ///< about, of simulating it
    bool is_cheap;
    bool has_program = false;  ///< the bound is that of its program

    /// The lowest bound first, but what takes long last.
    bool operator<(const Waiting& other) const {
      return std::tuple(!is_cheap, bound_s, candidate) <
             std::tuple(!other.is_cheap, other.bound_s, other.candidate);
    }
  };

  /// A candidate that takes too much to try.
  struct PutOff {
    Waiting candidate;
    std::string reason;
  };

  void enqueue(std::size_t candidate) {
    const plan::OrObstacle<double> cost_s = trials_.cost_s(candidate);
    if (const auto* obstacle = std::get_if<plan::Obstacle>(&cost_s))
      return set_aside(candidate, *obstacle);
    queue_.insert({trials_.early_bound_s(space_.candidates[candidate].family), candidate,
                   std::get<double>(cost_s), std::get<double>(cost_s) <= options_.most_trial_s});
  }

  bool has_answer() const {
    const TuneLimits& limits = options_.limits;
    return std::ranges::any_of(simulated_,
                               [&](const TunedCandidate& one) { return is_within(one, limits); });
  }

  /// Why a candidate takes longer than is left; empty if it does not. No budget is too small for one answer.
  std::string why_too_long(const Waiting& next) const {
    const auto& budget_s = options_.budget_s;
    if (next.is_cheap && (!budget_s || !has_answer())) return {};
    if (trials_.knows_time(next.candidate)) return {};
    if (budget_s && trials_.elapsed_s() + next.cost_s <= *budget_s) return {};
    if (next.is_cheap) return "the budget is used up";
    return fmt::format("simulating it would take about {}", units::time_text(next.cost_s));
  }

  TuneTrials::Question question(const Waiting& next) const {
    if (options_.exhaustive)
      return {next.candidate, false, std::numeric_limits<double>::infinity()};
    return {next.candidate, !next.has_program, reached_.least_before(at_least_s(next.bound_s))};
  }

  /// While the next candidate is looked at, helpers find out what those after it need that will not be left out
  /// as far as is known, if candidates take no longer than their bounds and err as theory says. Some may be left
  /// out when their turn comes: then it was for nothing.
  void look_ahead() {
    const std::size_t most = trials_.ahead();
    const auto wanted = [&](const Waiting& next, const Reached& reached) {
      const std::size_t family = space_.candidates[next.candidate].family;
      return options_.exhaustive ||
             reason_by(next.bound_s, least_nmse(family), reached) == Reason::none;
    };
    if (most == 0 || trials_.knows(question(*queue_.begin())) || !wanted(*queue_.begin(), reached_))
      return;
    std::vector<TuneTrials::Question> questions;
    Reached expected = reached_;
    for (auto next = queue_.begin(); next != queue_.end() && questions.size() < most; ++next) {
      if (!why_too_long(*next).empty()) break;
      if (!wanted(*next, expected)) continue;
      if (next != queue_.begin() && !trials_.knows(question(*next)))
        questions.push_back(question(*next));
      const auto nmse = expected_nmse(space_.candidates[next->candidate].family);
      if (next->has_program && nmse) expected.add(next->bound_s, *nmse);
    }
    trials_.look_ahead(questions);
  }

  void decide(const Waiting& next) {
    const std::size_t family = space_.candidates[next.candidate].family;
    const bool prune = !options_.exhaustive;
    if (prune && left_out(next.bound_s, family)) return;
    if (!next.has_program) ++looked_at_;
    if (std::string why = why_too_long(next); !why.empty())
      return put_off_.push_back({next, std::move(why)});
    const plan::OrObstacle<double> bound_s =
        prune && next.has_program ? next.bound_s : trials_.bound_s(next.candidate);
    if (const auto* obstacle = std::get_if<plan::Obstacle>(&bound_s))
      return set_aside(next.candidate, *obstacle);
    Waiting known = next;
    known.bound_s = std::get<double>(bound_s);
    known.has_program = true;
    if (prune && !next.has_program)
      queue_.insert(known);
    else
      try_out(known);
  }

  /// A candidate with the bound of its program.
  void try_out(const Waiting& next) {
    show_progress();
    // Where links break, whether a way ends at all is known sooner than its error.
    if (trials_.may_fail() && !trials_.time(next.candidate).time_s) {
      ++counts_.failed;
      return;
    }
    const std::size_t family = space_.candidates[next.candidate].family;
    const Finding nmse = trials_.nmse(family);
    if (const auto* obstacle = std::get_if<plan::Obstacle>(&nmse))
      return set_aside(next.candidate, *obstacle);
    if (const auto* too_much = std::get_if<TooMuch>(&nmse))
      return put_off_.push_back({next, too_much->reason});
    const auto& prediction = trials_.prediction(family);
    if (use_theory_ && prediction && std::get<double>(nmse) < prediction->floor)
      theory_refuted_ = true;
    if (!options_.exhaustive && left_out(next.bound_s, family)) return;
    simulate(next.candidate, next.bound_s, std::get<double>(nmse));
  }

  /// Counts a candidate that cannot run, by the reason.
  void set_aside(std::size_t candidate, const plan::Obstacle& obstacle) {
    ++counts_.cannot_run;
    const std::string reason = obstacle.text();
    const auto known = std::ranges::find(unfit_, reason, &UnfitCandidates::reason);
    if (known == unfit_.end())
      unfit_.push_back({reason, config_of(space_, space_.candidates[candidate]).label, 1});
    else
      ++known->count;
  }

  /// Counts a candidate that was put off: whether it might be on the front, now that this is known.
  void settle(const PutOff& one) {
    const Waiting& candidate = one.candidate;
    const std::size_t family = space_.candidates[candidate.candidate].family;
    if (!options_.exhaustive && left_out(candidate.bound_s, family)) return;
    ++counts_.not_tried;
    const auto [place, is_new] = untried_of_.try_emplace(family, untried_.size());
    if (is_new) untried_.push_back(untried(one));
    UntriedCandidates& group = untried_[place->second];
    ++group.count;
    group.cost_s += candidate.cost_s;
    if (candidate.bound_s >= group.bound_s) return;
    group.config = config_of(space_, space_.candidates[candidate.candidate]);
    group.bound_s = candidate.bound_s;
  }

  UntriedCandidates untried(const PutOff& one) const {
    const TuneCandidate& candidate = space_.candidates[one.candidate.candidate];
    return {.config = config_of(space_, candidate),
            .bound_s = one.candidate.bound_s,
            .nmse_floor = least_nmse(candidate.family),
            .reason = one.reason};
  }

  /// Of a time that is not below a bound, but for rounding.
  static double at_least_s(double bound_s) { return bound_s * (1.0 - sim::kBoundRounding); }

  /// Why a candidate cannot be on the front.
  enum class Reason { none, too_slow, too_wrong, beaten };

  Reason reason_by(double bound_s, double error, const Reached& reached) const {
    const TuneLimits& limits = options_.limits;
    if (limits.max_time_s && at_least_s(bound_s) > *limits.max_time_s) return Reason::too_slow;
    if (limits.max_nmse && error > *limits.max_nmse) return Reason::too_wrong;
    return reached.least_before(at_least_s(bound_s)) <= error ? Reason::beaten : Reason::none;
  }
  Reason reason_to_leave_out(double bound_s, std::size_t family) const {
    return reason_by(bound_s, least_nmse(family), reached_);
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

  /// The error, or its floor.
  double least_nmse(std::size_t family) const {
    return trials_.known_nmse(family).value_or(floor(family));
  }

  /// The error, or what theory says of it, if it says anything.
  std::optional<double> expected_nmse(std::size_t family) const {
    const auto& prediction = trials_.prediction(family);
    const std::optional<double> known = trials_.known_nmse(family);
    return known || !prediction ? known : prediction->nmse;
  }

  void simulate(std::size_t candidate, double bound_s, double nmse) {
    const TuneTrials::Time& time = trials_.time(candidate);
    ++counts_.simulated;
    reached_.add(*time.time_s, nmse);
    const auto& prediction = trials_.prediction(space_.candidates[candidate].family);
    simulated_.push_back(
        {.index = candidate,
         .config = config_of(space_, space_.candidates[candidate]),
         .time_s = *time.time_s,
         .allreduce_s = time.allreduce_s,
         .added_up = time.allreduce_s.has_value(),
         .bound_s = bound_s,
         .nmse = nmse,
         .theory_nmse = prediction ? std::optional(prediction->nmse) : std::nullopt,
         .minishards = time.minishards});
  }

  /// Candidates that may still have to be looked at are counted as if none of them left another out, so the time
  /// left is shorter than it says rather than longer.
  void show_progress() {
    constexpr double kEvery = 0.5;  // seconds
    const double now_s = trials_.elapsed_s();
    if (now_s - shown_s_ < kEvery) return;
    shown_s_ = now_s;
    const auto open = static_cast<double>(std::ranges::count_if(queue_, [&](const Waiting& one) {
      return options_.exhaustive ||
             reason_to_leave_out(one.bound_s, space_.candidates[one.candidate].family) ==
                 Reason::none;
    }));
    const auto looked_at = static_cast<double>(looked_at_);
    progress_(fmt::format(
        "{:.0f} % of about {:.0f} candidates that are worth a look, {} simulated, up to {} left",
        100.0 * looked_at / (looked_at + open), looked_at + open, counts_.simulated,
        units::time_text(now_s * open / looked_at)));
  }

  const TuneSpace& space_;
  const TuneOptions& options_;
  bool use_theory_;
  TuneTrials& trials_;
  const run::Progress& progress_;
  double shown_s_ = 0.0;       ///< when progress was
  std::size_t looked_at_ = 0;  ///< candidates that were not left out at once
  std::set<Waiting> queue_;
  std::vector<PutOff> put_off_;
  std::vector<TunedCandidate> simulated_;
  Reached reached_;  ///< by those that were simulated
  TuneCounts counts_;
  std::vector<UnfitCandidates> unfit_;
  std::vector<UntriedCandidates> untried_;
  std::map<std::size_t, std::size_t> untried_of_;  ///< place in untried_, by family
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
