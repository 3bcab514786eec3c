// Searches for the combination of candidates with the shortest step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/tune_step/candidates.hpp"

namespace equarx::tune_step {

/// Index of the chosen candidate, by group.
using Choice = std::vector<std::size_t>;

/// Minimum gain of a changed group as a fraction of the baseline's step time; smaller gains do not
/// justify the error.
inline constexpr double kLeastGain = 1e-3;

/// Simulates the step for choices and memoizes the times.
class Trials {
 public:
  /// Returns the time of the step in s for a planned choice. Called from several threads at once.
  using Simulate = std::function<double()>;
  /// Plans a choice. @throws input::InputError if it is infeasible
  using Plan = std::function<Simulate(const Choice&)>;

  /// Estimates the time of the step in s without a simulation, from below: no other work slows the
  /// collectives down. @throws input::InputError if the choice is infeasible
  using Estimate = std::function<double(const Choice&)>;

  /// Time in s that the changed collectives of a choice save over those of another, one after the
  /// other in isolation.
  using Saving = std::function<double(const Choice& from, const Choice& to)>;

  /// `baseline_s`: time of the baseline in s. `threads`: for prefetch(). `saving`: none if empty
  Trials(Plan plan, Estimate estimate, Choice baseline, double baseline_s, unsigned threads = 1,
         Saving saving = {});

  /// Plans choices that are not known, and simulates them in parallel, each unless `stop` has returned
  /// true before it.
  void prefetch(const std::vector<Choice>& choices, const std::function<bool()>& stop);

  /// Time of the step in s; std::nullopt if the choice is infeasible.
  const std::optional<double>& time_s(const Choice& choice);

  /// Lower bound of cost_s() for choices that are not known; 0 if infeasible.
  double least_cost_s(const Choice& choice);

  /// Likewise for a choice next to `from`, from which it saves no more time than in isolation. An
  /// approximation: where collectives contend for links, the step may gain more.
  double least_cost_s(const Choice& choice, const Choice& from);

  /// Objective: step time plus kLeastGain of the baseline's time per changed group. Infinite if
  /// infeasible.
  double cost_s(const Choice& choice);

  /// Returns the time of a choice simulated before; std::nullopt if not simulated or infeasible.
  std::optional<double> known_time_s(const Choice& choice) const;

  /// True if a choice was simulated or found infeasible.
  bool knows(const Choice& choice) const { return known_.contains(choice); }

  const Choice& baseline() const { return baseline_; }
  std::uint64_t simulated() const { return known_.size(); }
  /// Message of the first infeasible choice; empty if none.
  const std::string& obstacle() const { return obstacle_; }

 private:
  void simulate(std::span<const Choice> choices, const std::function<bool()>& stop);
  /// Cost of a step of `time_s`.
  double cost_s(const Choice& choice, double time_s) const;

  Plan plan_;
  Estimate estimate_;
  Saving saving_;
  Choice baseline_;
  unsigned threads_;
  std::map<Choice, std::optional<double>> known_;  ///< times in s
  std::string obstacle_;
};

/// Allowed candidates by group: their number, and whether the first, the baseline, is allowed.
struct Allowed {
  std::vector<std::size_t> candidates;
  std::vector<bool> baseline;
};

/// Coordinate descent: changes one group at a time until no change improves the cost. Simulates
/// choices in the order of their least cost, and none whose least cost is not below the best so far:
/// also none that saves less in isolation than a change must gain.
/// `stop`: called before each simulation; true ends the search.
Choice improve(const Allowed& allowed, Trials& trials, const std::function<bool()>& stop);

/// Exhaustive search over all allowed choices.
Choice best_of_all(const Allowed& allowed, Trials& trials, const std::function<bool()>& stop);

/// Greedy path from the baseline to `best`, both included, changing one group per step: the change
/// with the lowest cost first.
std::vector<Choice> path_to(const Choice& best, Trials& trials);

}  // namespace equarx::tune_step
