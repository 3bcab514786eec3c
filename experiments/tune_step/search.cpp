#include "experiments/tune_step/search.hpp"

#include <limits>
#include <utility>

#include "experiments/input/errors.hpp"

namespace equarx::tune_step {
namespace {

Choice with(Choice choice, std::size_t group, std::size_t candidate) {
  choice[group] = candidate;
  return choice;
}

/// Start of a search: the baseline where allowed, else the first other candidate.
Choice first_choice(const Allowed& allowed) {
  Choice choice;
  for (const bool baseline : allowed.baseline) choice.push_back(baseline ? 0 : 1);
  return choice;
}

/// Advances to the next choice, first group fastest. Returns false after the last.
bool advance(const Allowed& allowed, Choice& choice) {
  const Choice first = first_choice(allowed);
  for (std::size_t group = 0; group < choice.size(); ++group) {
    if (++choice[group] < allowed.candidates[group]) return true;
    choice[group] = first[group];
  }
  return false;
}

}  // namespace

Trials::Trials(Simulate simulate, Choice baseline)
    : simulate_(std::move(simulate)), baseline_(std::move(baseline)) {
  known_.emplace(baseline_, simulate_(baseline_));
}

const std::optional<step::VariantResult>& Trials::result(const Choice& choice) {
  const auto known = known_.find(choice);
  if (known != known_.end()) return known->second;
  std::optional<step::VariantResult> result;
  try {
    result = simulate_(choice);
  } catch (const input::InputError& error) {
    if (obstacle_.empty()) obstacle_ = error.what();
  }
  return known_.emplace(choice, std::move(result)).first->second;
}

std::optional<double> Trials::known_time_s(const Choice& choice) const {
  const auto known = known_.find(choice);
  if (known == known_.end() || !known->second) return std::nullopt;
  return known->second->time_s;
}

double Trials::cost_s(const Choice& choice) {
  const std::optional<step::VariantResult>& found = result(choice);
  if (!found) return std::numeric_limits<double>::infinity();
  std::size_t changed = 0;
  for (std::size_t group = 0; group < choice.size(); ++group)
    if (choice[group] != baseline_[group]) ++changed;
  return found->time_s + kLeastGain * static_cast<double>(changed) * known_.at(baseline_)->time_s;
}

Choice improve(const Allowed& allowed, Trials& trials, const std::function<bool()>& stop) {
  Choice best = first_choice(allowed);
  for (bool better = true; better;) {
    better = false;
    const Choice from = best;
    for (std::size_t group = 0; group < from.size(); ++group)
      for (std::size_t candidate = allowed.baseline[group] ? 0 : 1;
           candidate < allowed.candidates[group]; ++candidate) {
        if (stop()) return best;
        const Choice other = with(from, group, candidate);
        if (trials.cost_s(other) >= trials.cost_s(best)) continue;
        best = other;
        better = true;
      }
  }
  return best;
}

Choice best_of_all(const Allowed& allowed, Trials& trials, const std::function<bool()>& stop) {
  Choice choice = first_choice(allowed);
  Choice best = choice;
  do {
    if (stop()) return best;
    if (trials.cost_s(choice) < trials.cost_s(best)) best = choice;
  } while (advance(allowed, choice));
  return best;
}

std::vector<Choice> path_to(const Choice& best, Trials& trials) {
  std::vector<Choice> path = {trials.baseline()};
  while (path.back() != best) {
    std::optional<Choice> next;
    for (std::size_t group = 0; group < best.size(); ++group) {
      if (path.back()[group] == best[group]) continue;
      const Choice other = with(path.back(), group, best[group]);
      if (!next || trials.cost_s(other) < trials.cost_s(*next)) next = other;
    }
    path.push_back(*next);
  }
  return path;
}

}  // namespace equarx::tune_step
