// Which of the ways together make the step shortest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/step/results.hpp"
#include "experiments/tune_step/ways.hpp"

namespace equarx::tune_step {

/// By group: index of its way.
using Choice = std::vector<std::size_t>;

/// A group that is not as in the baseline has to shorten the step by this share of the baseline's time: what gains
/// less is not worth its error.
inline constexpr double kLeastGain = 1e-3;

/// Simulates the step with choices, each once.
class Trials {
 public:
  /// Simulates it; throws input::InputError if it cannot run so.
  using Simulate = std::function<step::VariantResult(const Choice&)>;

  Trials(Simulate simulate, Choice baseline);

  /// None if the step cannot run so.
  const std::optional<step::VariantResult>& result(const Choice& choice);

  /// What is made as small as it can be: the time, and kLeastGain of the baseline's time for each group that is not
  /// as in the baseline. Infinite if the step cannot run so.
  double cost_s(const Choice& choice);

  /// Of a step that was simulated already; none if it was not, or cannot run.
  std::optional<double> known_time_s(const Choice& choice) const;

  const Choice& baseline() const { return baseline_; }
  std::uint64_t simulated() const { return known_.size(); }
  /// Why some choices cannot run: of the first of them.
  const std::string& obstacle() const { return obstacle_; }

 private:
  Simulate simulate_;
  Choice baseline_;
  std::map<Choice, std::optional<step::VariantResult>> known_;
  std::string obstacle_;
};

/// Ways that may be chosen, by group: how many, and whether the first, which is the baseline's, is one of them.
struct Allowed {
  std::vector<std::size_t> ways;
  std::vector<bool> baseline;
};

/// The best choice that differs from the one found before in one group, again and again until none is better.
/// `stop`: asked before each simulation; ends the search where it is.
Choice improve(const Allowed& allowed, Trials& trials, const std::function<bool()>& stop);

/// The best of all.
Choice best_of_all(const Allowed& allowed, Trials& trials, const std::function<bool()>& stop);

/// From the baseline to `best`, one group after the other: that first which makes the step shortest. Begins with the
/// baseline, ends with `best`.
std::vector<Choice> path_to(const Choice& best, Trials& trials);

}  // namespace equarx::tune_step
