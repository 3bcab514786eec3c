#include "experiments/tune_step/search.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <mutex>
#include <utility>

#include "base/input/errors.hpp"
#include "base/process/parallel_for.hpp"

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

/// A choice with its least cost.
struct Bounded {
  double least_s = 0.0;
  Choice choice;
};

/// The choices that differ from `from` in one group and may cost less, by ascending least cost.
std::vector<Bounded> neighbours(const Allowed& allowed, const Choice& from, Trials& trials) {
  std::vector<Bounded> list;
  const double from_s = trials.cost_s(from);
  for (std::size_t group = 0; group < from.size(); ++group)
    for (std::size_t candidate = allowed.baseline[group] ? 0 : 1;
         candidate < allowed.candidates[group]; ++candidate) {
      Choice choice = with(from, group, candidate);
      const double least_s = trials.least_cost_s(choice, from);
      if (least_s < from_s) list.push_back({least_s, std::move(choice)});
    }
  std::ranges::stable_sort(list, {}, &Bounded::least_s);
  return list;
}

}  // namespace

Trials::Trials(Plan plan, Estimate estimate, Choice baseline, double baseline_s, unsigned threads,
               Saving saving)
    : plan_(std::move(plan)),
      estimate_(std::move(estimate)),
      saving_(std::move(saving)),
      baseline_(std::move(baseline)),
      threads_(std::max(1U, threads)) {
  known_.emplace(baseline_, baseline_s);
}

void Trials::simulate(std::span<const Choice> choices, const std::function<bool()>& stop) {
  std::vector<Simulate> planned(choices.size());
  for (std::size_t i = 0; i < choices.size(); ++i) {
    try {
      planned[i] = plan_(choices[i]);
    } catch (const input::InputError& error) {
      if (obstacle_.empty()) obstacle_ = error.what();
    }
  }
  std::vector<std::optional<double>> times_s(choices.size());
  std::vector<std::uint8_t> ran(choices.size());  // by several threads, unlike bits
  std::mutex asking;
  bool stopped = false;
  process::parallel_for(choices.size(), threads_, [&](std::size_t i) {
    {
      const std::scoped_lock lock(asking);
      stopped = stopped || stop();
      if (stopped) return;
    }
    if (planned[i]) times_s[i] = planned[i]();
    planned[i] = {};
    ran[i] = 1;
  });
  for (std::size_t i = 0; i < choices.size(); ++i)
    if (ran[i] != 0) known_.emplace(choices[i], times_s[i]);
}

void Trials::prefetch(const std::vector<Choice>& choices, const std::function<bool()>& stop) {
  std::vector<Choice> unknown;
  std::ranges::copy_if(choices, std::back_inserter(unknown),
                       [&](const Choice& choice) { return !known_.contains(choice); });
  simulate(unknown, stop);
}

const std::optional<double>& Trials::time_s(const Choice& choice) {
  if (!known_.contains(choice)) simulate({&choice, 1}, [] { return false; });
  return known_.at(choice);
}

std::optional<double> Trials::known_time_s(const Choice& choice) const {
  const auto known = known_.find(choice);
  return known == known_.end() ? std::nullopt : known->second;
}

double Trials::cost_s(const Choice& choice, double time_s) const {
  std::size_t changed = 0;
  for (std::size_t group = 0; group < choice.size(); ++group)
    if (choice[group] != baseline_[group]) ++changed;
  return time_s + kLeastGain * static_cast<double>(changed) * *known_.at(baseline_);
}

double Trials::cost_s(const Choice& choice) {
  const std::optional<double>& found_s = time_s(choice);
  return found_s ? cost_s(choice, *found_s) : std::numeric_limits<double>::infinity();
}

double Trials::least_cost_s(const Choice& choice) {
  if (known_.contains(choice)) return cost_s(choice);
  try {
    return cost_s(choice, estimate_(choice));
  } catch (const input::InputError&) {
    return 0.0;  // reported by simulate()
  }
}

double Trials::least_cost_s(const Choice& choice, const Choice& from) {
  const double least_s = least_cost_s(choice);
  if (!saving_ || knows(choice)) return least_s;
  const std::optional<double>& from_s = time_s(from);
  if (!from_s) return least_s;
  return std::max(least_s, cost_s(choice, *from_s - saving_(from, choice)));
}

Choice improve(const Allowed& allowed, Trials& trials, const std::function<bool()>& stop) {
  constexpr std::size_t kBatch = 4;  // whatever the number of threads, for equal results
  Choice best = first_choice(allowed);
  for (bool better = true; better;) {
    better = false;
    const std::vector<Bounded> others = neighbours(allowed, best, trials);
    for (std::size_t first = 0; first < others.size(); first += kBatch) {
      std::vector<Choice> batch;
      for (std::size_t i = first; i < std::min(first + kBatch, others.size()); ++i)
        if (others[i].least_s < trials.cost_s(best)) batch.push_back(others[i].choice);
      trials.prefetch(batch, stop);
      for (const Choice& other : batch) {
        if (!trials.knows(other)) return best;  // stopped
        if (trials.cost_s(other) >= trials.cost_s(best)) continue;
        best = other;
        better = true;
      }
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
