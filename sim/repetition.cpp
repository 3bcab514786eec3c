#include "sim/repetition.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "sim/one_stream.hpp"

namespace equarx::sim {
namespace {

/// Periods kept at the end of a run.
constexpr std::uint32_t kTail = 2;
/// Fewest periods kept at its start.
constexpr std::uint32_t kLeastHead = 3;
/// Runs with fewer periods are simulated in full.
constexpr std::uint32_t kLeastCount = 2 * (kLeastHead + kTail);
/// Longest distance, in periods, at which states are compared. Removed periods are a multiple of it.
constexpr std::uint32_t kLongestCycle = 2;
/// Periods that are compared with those before, at least.
constexpr std::uint32_t kCompared = 2;

/// A task with its stream.
struct PlacedRun {
  std::uint32_t stream = 0;
  const TaskRun* run = nullptr;
};

std::vector<PlacedRun> runs_by_task(const StepProgram& work) {
  std::vector<PlacedRun> runs(work.tasks);
  for (std::uint32_t stream = 0; stream < work.streams.size(); ++stream)
    for (const TaskRun& run : work.streams[stream]) runs.at(run.task) = {stream, &run};
  return runs;
}

/// True if all tasks are run, and each follows its dependencies.
bool is_ordered(const std::vector<PlacedRun>& runs) {
  return std::ranges::all_of(runs, [](const PlacedRun& placed) {
    return placed.run != nullptr &&
           std::ranges::all_of(placed.run->after,
                               [&](std::uint32_t before) { return before < placed.run->task; });
  });
}

/// Finds runs in the sequence of task numbers.
class Finder {
 public:
  Finder(const std::vector<PlacedRun>& runs, std::uint32_t least, std::uint32_t longest)
      : runs_(runs),
        least_(least),
        longest_(longest),
        works_(runs.size()),
        next_(runs.size(), size()) {
    std::map<Work, std::uint32_t> numbers;
    std::map<std::uint32_t, std::uint32_t> first;  // by work, its first task from here on
    for (std::uint32_t task = size(); task-- > 0;) {
      works_[task] =
          numbers.emplace(work_of(task), static_cast<std::uint32_t>(numbers.size())).first->second;
      const auto [known, is_new] = first.emplace(works_[task], task);
      if (!is_new) next_[task] = std::exchange(known->second, task);
    }
  }

  std::vector<Repetition> find() const {
    std::vector<Repetition> found;
    for (std::uint32_t task = 0; task < size();) {
      const std::optional<Repetition> one = from(task);
      if (one) found.push_back(*one);
      task = one ? one->end() : task + 1;
    }
    return found;
  }

 private:
  using Work = std::tuple<std::uint32_t, std::optional<std::size_t>, ProgramPart,
                          std::optional<std::uint32_t>, double, double,
                          std::vector<std::tuple<std::uint64_t, double, double>>>;

  std::uint32_t size() const { return static_cast<std::uint32_t>(runs_.size()); }

  /// Everything about a task but its dependencies.
  Work work_of(std::uint32_t task) const {
    const TaskRun& run = *runs_[task].run;
    Work work{runs_[task].stream, run.program, run.part, run.chips, run.core_s, run.host_s, {}};
    for (const HbmWork& one : run.with_hbm)
      std::get<6>(work).emplace_back(one.hbm_bytes, one.core_s, one.before_s);
    return work;
  }

  /// The run with the shortest period that starts at a task.
  std::optional<Repetition> from(std::uint32_t first) const {
    constexpr int kTries = 16;
    std::uint32_t other = first;
    for (int i = 0; i < kTries; ++i) {
      other = next_[other];
      if (other == size()) return std::nullopt;
      const std::uint32_t period = other - first;
      if (period > longest_) return std::nullopt;
      const Repetition run{first, period, count_of(first, period)};
      if (run.count >= least_) return run;
    }
    return std::nullopt;
  }

  std::uint32_t count_of(std::uint32_t first, std::uint32_t period) const {
    std::uint32_t task = first;
    while (task + period < size() && repeats(first, task, period)) ++task;
    return (task - first) / period + 1;
  }

  /// True if a task of a run from `first` does the same a period later.
  bool repeats(std::uint32_t first, std::uint32_t task, std::uint32_t period) const {
    if (works_[task] != works_[task + period]) return false;
    return inner(first, task, 0) == inner(first + period, task + period, period);
  }

  /// Dependencies on the tasks from `first` on, moved back by `shift`, ascending.
  std::vector<std::uint32_t> inner(std::uint32_t first, std::uint32_t task,
                                   std::uint32_t shift) const {
    std::vector<std::uint32_t> list;
    for (const std::uint32_t before : runs_[task].run->after)
      if (before >= first) list.push_back(before - shift);
    std::ranges::sort(list);
    return list;
  }

  const std::vector<PlacedRun>& runs_;
  std::uint32_t least_;
  std::uint32_t longest_;
  std::vector<std::uint32_t> works_;  ///< by task: number of its work
  std::vector<std::uint32_t> next_;   ///< by task: the next one with the same work
};

/// Task numbers after cuts.
class Renumbering {
 public:
  Renumbering(std::uint32_t tasks, const std::vector<Cut>& cuts)
      : cuts_(cuts), cut_of_(tasks), number_(tasks) {
    std::uint32_t removed = 0;
    std::uint32_t task = 0;
    const auto keep_until = [&](std::uint32_t end) {
      for (; task < end; ++task) number_[task] = task - removed;
    };
    for (const Cut& cut : cuts_) {
      const std::uint32_t end = cut.run.first + cut.end * cut.run.period;
      keep_until(cut.run.first + cut.begin * cut.run.period);
      for (; task < end; ++task) cut_of_[task] = &cut;
      removed += cut.tasks();
    }
    keep_until(tasks);
    tasks_ = tasks - removed;
  }
  Renumbering(const Renumbering&) = delete;
  Renumbering& operator=(const Renumbering&) = delete;

  std::uint32_t tasks() const { return tasks_; }
  bool is_removed(std::uint32_t task) const { return cut_of_[task] != nullptr; }
  std::uint32_t operator[](std::uint32_t task) const { return number_[task]; }

  /// The number of a dependency of `task`, both as before the cuts; std::nullopt if it is dropped.
  std::optional<std::uint32_t> dependency(std::uint32_t task, std::uint32_t before) const {
    const Cut* cut = cut_of_[before];
    if (cut == nullptr) return number_[before];
    if (task >= cut->run.end() || before < cut->run.first + cut->tasks()) return std::nullopt;
    return number_[before - cut->tasks()];
  }

 private:
  std::vector<Cut> cuts_;
  std::vector<const Cut*> cut_of_;  ///< by task: its cut if it is removed
  std::vector<std::uint32_t> number_;
  std::uint32_t tasks_ = 0;
};

/// True if every task after a run follows one of its last periods.
bool delays_all_after(const Repetition& run, const std::vector<PlacedRun>& runs) {
  std::vector<bool> follows(runs.size());
  std::map<std::uint32_t, bool> stream_follows;
  for (std::uint32_t task = run.end() - kTail * run.period; task < runs.size(); ++task) {
    bool& stream = stream_follows[runs[task].stream];
    follows[task] = task < run.end() || stream ||
                    std::ranges::any_of(runs[task].run->after,
                                        [&](std::uint32_t before) { return follows[before]; });
    if (!follows[task]) return false;
    stream = true;
  }
  return true;
}

/// Simulated times of the tasks of a step.
class TaskTimes {
 public:
  /// `tolerance`: relative difference between the times of a steady run
  TaskTimes(const TimeResult& time, std::uint32_t tasks, std::uint32_t chips, double tolerance)
      : end_s_(time.time_s),
        marks_s_(time.marks_s),
        marks_(2 * tasks),
        chips_(chips),
        tolerance_(tolerance) {
    set_extremes();
  }

  /// Time of the step in s.
  double end_s() const { return end_s_; }

  const std::vector<double>& marks_s() const { return marks_s_; }

  /// Inserts time before the tasks from `first` on.
  void delay_from(std::uint32_t first, double seconds) {
    end_s_ += seconds;
    for (collectives::Rank chip = 0; chip < chips_; ++chip)
      for (std::uint32_t mark = start_mark(first); mark < marks_; ++mark)
        marks_s_[std::size_t{chip} * marks_ + mark] += seconds;
    set_extremes();
  }

  /// Time in s between the periods of a run of `period` tasks from `first`, if it is steady after
  /// `head` periods.
  std::optional<double> steady_period_s(std::uint32_t first, std::uint32_t period,
                                        std::uint32_t head) const {
    for (std::uint32_t cycle = 1; cycle <= kLongestCycle; ++cycle)
      for (const std::uint32_t from : {head - kCompared, head / 2}) {
        if (from < cycle) continue;
        const Window window{first + from * period, first + (head - 1) * period, period, cycle};
        const double seconds = cycle_s(window);
        if (is_uniform(window, seconds) && is_alone(window, seconds)) return seconds / cycle;
      }
    return std::nullopt;
  }

  /// False if a run that is not steady after `head` periods approaches a steady course too slowly to be so
  /// after `most`, as when some chips run ahead of others by more in each period.
  bool may_become_steady(std::uint32_t first, std::uint32_t period, std::uint32_t head,
                         std::uint32_t most) const {
    constexpr std::uint32_t kApart = 3;  // periods
    if (head < kApart + kLongestCycle + kCompared) return true;
    const auto period_at = [&](std::uint32_t task) {
      return Window{task, task, period, kLongestCycle};
    };
    const std::uint32_t last = first + (head - 1) * period;
    const double least_s = tolerance_ * cycle_s(period_at(last));
    const double now_s = unevenness_s(period_at(last));
    const double before_s = unevenness_s(period_at(last - kApart * period));
    if (now_s <= least_s) return true;  // other tasks are active
    if (now_s >= before_s) return false;
    const double needed = kApart * std::log(least_s / now_s) / std::log(now_s / before_s);
    return head + needed <= most;
  }

 private:
  /// Periods to compare with those `cycle` periods before.
  struct Window {
    std::uint32_t first;  ///< first task of the first one
    std::uint32_t last;   ///< first task of the last one
    std::uint32_t period;
    std::uint32_t cycle;
  };

  double mark_s(collectives::Rank chip, std::uint32_t mark) const {
    return marks_s_[std::size_t{chip} * marks_ + mark];
  }

  /// Time from the counterpart of a mark in the cycle before.
  double distance_s(collectives::Rank chip, std::uint32_t mark, const Window& window) const {
    return mark_s(chip, mark) - mark_s(chip, mark - 2 * window.cycle * window.period);
  }

  /// Time of the cycle before the last period of a window.
  double cycle_s(const Window& window) const {
    return distance_s(0, start_mark(window.last), window);
  }

  /// Largest difference between the distance of a mark of a window and the time of the cycle.
  double unevenness_s(const Window& window) const {
    const double whole_s = cycle_s(window);
    const std::uint32_t end = start_mark(window.last + window.period);
    double most_s = 0.0;
    for (collectives::Rank chip = 0; chip < chips_; ++chip)
      for (std::uint32_t mark = start_mark(window.first); mark < end; ++mark)
        most_s = std::max(most_s, std::abs(distance_s(chip, mark, window) - whole_s));
    return most_s;
  }

  void set_extremes() {
    const std::uint32_t tasks = marks_ / 2;
    start_s_.assign(tasks, std::numeric_limits<double>::infinity());
    last_end_s_.assign(tasks + 1, 0.0);
    for (std::uint32_t task = 0; task < tasks; ++task) {
      last_end_s_[task + 1] = last_end_s_[task];
      for (collectives::Rank chip = 0; chip < chips_; ++chip) {
        start_s_[task] = std::min(start_s_[task], mark_s(chip, start_mark(task)));
        last_end_s_[task + 1] = std::max(last_end_s_[task + 1], mark_s(chip, end_mark(task)));
      }
    }
  }

  /// True if all tasks of a window are `cycle_s` after their counterparts in the cycle before.
  bool is_uniform(const Window& window, double cycle_s) const {
    const std::uint32_t end = start_mark(window.last + window.period);
    for (collectives::Rank chip = 0; chip < chips_; ++chip)
      for (std::uint32_t mark = start_mark(window.first); mark < end; ++mark)
        if (std::abs(distance_s(chip, mark, window) - cycle_s) > tolerance_ * cycle_s) return false;
    return true;
  }

  /// True if no task before a window is active when its last period starts, and none that is not
  /// compared a cycle before.
  bool is_alone(const Window& window, double cycle_s) const {
    const auto last = start_s_.begin() + window.last;
    const double start_s = *std::min_element(last, last + window.period);
    return last_end_s_[window.first] <= start_s &&
           last_end_s_[window.first - window.cycle * window.period] <= start_s - cycle_s;
  }

  double end_s_;
  std::vector<double> marks_s_;
  std::uint32_t marks_;
  std::uint32_t chips_;
  double tolerance_;
  std::vector<double> start_s_;     ///< by task: first start on any chip
  std::vector<double> last_end_s_;  ///< by task: latest end on any chip of all tasks before it
};

/// Keeps `head` periods before a cut. Returns false if the rest is not worth a cut.
bool keep(std::uint32_t head, Cut& cut) {
  cut.begin = head;
  cut.end = cut.run.count - kTail;
  if (2 * head > cut.run.count) return false;
  cut.end -= (cut.end - cut.begin) % kLongestCycle;
  return true;
}

/// The cut with the fewest periods before it; std::nullopt if the run is not steady early.
std::optional<Cut> cut_of(const Repetition& run, const TaskTimes& times) {
  Cut cut{run, 0, 0};
  for (std::uint32_t head = kLeastHead; keep(head, cut); ++head)
    if (times.steady_period_s(run.first, run.period, head)) return cut;
  return std::nullopt;
}

std::vector<Cut> cuts_of(const StepProgram& work, const TaskTimes& times, std::uint32_t longest) {
  std::vector<Cut> cuts;
  const std::vector<PlacedRun> runs = runs_by_task(work);
  for (const Repetition& run : find_repetitions(work, kLeastCount, longest)) {
    if (!delays_all_after(run, runs)) continue;
    if (const std::optional<Cut> cut = cut_of(run, times)) cuts.push_back(*cut);
  }
  return cuts;
}

/// Keeps as many periods of all runs of the same length, so that runs around them still repeat.
void keep_alike(std::vector<Cut>& cuts) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> heads;
  for (const Cut& cut : cuts) {
    std::uint32_t& head = heads[{cut.run.period, cut.run.count}];
    head = std::max(head, cut.begin);
  }
  for (Cut& cut : cuts) keep(heads[{cut.run.period, cut.run.count}], cut);
}

/// Adds the removed periods of steady runs to `times`. Those that are not steady get a longer head
/// in `cuts`, or leave it. `position`: first task of a run in `times`; std::nullopt if it is in a
/// removed period of another. Returns true if all are steady.
template <typename Position>
bool extend(std::vector<Cut>& cuts, TaskTimes& times, const Position& position) {
  bool steady = true;
  std::vector<Cut> next;
  for (Cut cut : cuts) {
    const std::optional<std::uint32_t> first = position(cut.run.first);
    const auto period_s = first ? times.steady_period_s(*first, cut.run.period, cut.begin) : 0.0;
    if (period_s && first)
      times.delay_from(*first + cut.begin * cut.run.period, *period_s * (cut.end - cut.begin));
    if (!period_s) steady = false;
    const bool longer =
        !period_s && first &&
        times.may_become_steady(*first, cut.run.period, cut.begin, cut.run.count / 2) &&
        keep(cut.begin + cut.begin / 2, cut);
    if (period_s || longer) next.push_back(cut);
  }
  if (!steady) keep_alike(next);
  cuts = std::move(next);
  return steady;
}

/// Marks of a step, given the marks without `cuts`, in which removed periods are pauses.
std::vector<double> with_periods(const std::vector<double>& marks_s, std::uint32_t tasks,
                                 std::uint32_t chips, const std::vector<Cut>& cuts) {
  const Renumbering number(tasks, cuts);
  std::vector<double> all_s(std::size_t{2} * tasks * chips);
  const auto at = [&](collectives::Rank chip, std::uint32_t task) {
    return marks_s.begin() + std::size_t{2} * (std::size_t{chip} * number.tasks() + number[task]);
  };
  const auto set = [&](collectives::Rank chip, std::uint32_t task, std::uint32_t from, double add) {
    for (const std::uint32_t mark : {start_mark(0), end_mark(0)})
      all_s[std::size_t{2} * (std::size_t{chip} * tasks + task) + mark] =
          at(chip, from)[mark] + add;
  };
  for (collectives::Rank chip = 0; chip < chips; ++chip) {
    for (std::uint32_t task = 0; task < tasks; ++task)
      if (!number.is_removed(task)) set(chip, task, task, 0.0);
    for (const Cut& cut : cuts) {
      const auto task_of = [&](std::uint32_t period) {
        return cut.run.first + period * cut.run.period;
      };
      const double cycle_s =
          *at(chip, task_of(cut.begin - 1)) - *at(chip, task_of(cut.begin - 1 - kLongestCycle));
      for (std::uint32_t period = cut.begin; period < cut.end; ++period) {
        const std::uint32_t cycles = (period - cut.begin) / kLongestCycle + 1;
        const std::uint32_t from = task_of(period - cycles * kLongestCycle);
        for (std::uint32_t task = 0; task < cut.run.period; ++task)
          set(chip, task_of(period) + task, from + task, cycles * cycle_s);
      }
    }
  }
  return all_s;
}

/// Task numbers of a shortened step would mislead in messages.
std::string nameless(std::uint32_t, collectives::InstructionId) { return {}; }

/// True if a cut of the step without `inner` removes a part of one of these runs.
bool splits(const Cut& cut, const std::vector<Cut>& inner) {
  std::uint32_t removed = 0;
  for (const Cut& one : inner) {
    const std::uint32_t first = one.run.first - removed;
    const std::uint32_t end = one.run.end() - one.tasks() - removed;
    removed += one.tasks();
    for (const std::uint32_t period : {cut.begin, cut.end}) {
      const std::uint32_t task = cut.run.first + period * cut.run.period;
      if (first < task && task < end) return true;
    }
  }
  return false;
}

/// Cuts of all runs, before any of them is known to become steady.
Cuts shortest_cuts(const StepProgram& work) {
  Cuts cuts;
  const auto cut_all = [](const StepProgram& of, std::uint32_t longest) {
    std::vector<Cut> made;
    const std::vector<PlacedRun> runs = runs_by_task(of);
    for (const Repetition& run : find_repetitions(of, kLeastCount, longest))
      if (Cut cut{run, 0, 0}; delays_all_after(run, runs) && keep(kLeastHead, cut))
        made.push_back(cut);
    return made;
  };
  cuts.inner = cut_all(work, work.tasks / (kLeastCount * kLeastCount));
  const StepProgram middle = without(work, cuts.inner);
  cuts.outer = cut_all(middle, middle.tasks);
  std::erase_if(cuts.outer, [&](const Cut& cut) { return splits(cut, cuts.inner); });
  return cuts;
}

/// Finds outer runs again after a change of the inner cuts, with as many periods before a cut.
std::vector<Cut> renumbered(const StepProgram& work, const Cuts& cuts) {
  std::vector<Cut> outer;
  if (cuts.outer.empty()) return outer;
  const StepProgram middle = without(work, cuts.inner);
  const std::uint32_t least_period = cuts.outer.front().run.period;
  for (const Repetition& run : find_repetitions(middle, kLeastCount, middle.tasks)) {
    Cut cut{run, 0, 0};
    if (run.period < least_period / 2 || !delays_all_after(run, runs_by_task(middle))) continue;
    if (keep(cuts.outer.front().begin, cut) && !splits(cut, cuts.inner)) outer.push_back(cut);
  }
  return outer;
}

/// Times of the tasks of a shortened step, with pauses for the removed ones.
struct Extended {
  TaskTimes times;
  TimeResult simulated;
  std::uint32_t tasks = 0;
};

/// Simulates a shortened step and adds the removed periods. Returns std::nullopt if a run is not steady;
/// `cuts` are then the next to try.
std::optional<Extended> extended_times(const StepProgram& work, const Machine& machine,
                                       const SimulationOptions& options, double tolerance,
                                       Cuts& cuts) {
  const Renumbering inner(work.tasks, cuts.inner);
  const StepProgram middle = without(work, cuts.inner);
  const Renumbering outer(middle.tasks, cuts.outer);
  const StepProgram shortest = without(middle, cuts.outer);
  TimeResult simulated = simulate(shortest, machine, nameless, options);
  TaskTimes times(simulated, shortest.tasks, machine.ranks(), tolerance);
  const auto in_outer = [&](std::uint32_t task) -> std::optional<std::uint32_t> {
    if (outer.is_removed(task)) return std::nullopt;
    return outer[task];
  };
  if (!extend(cuts.inner, times, [&](std::uint32_t task) { return in_outer(inner[task]); })) {
    cuts.outer = renumbered(work, cuts);
    return std::nullopt;
  }
  if (!extend(cuts.outer, times, in_outer)) return std::nullopt;
  return Extended{std::move(times), std::move(simulated), shortest.tasks};
}

/// False also if chips run different tasks: the times of a task that some skip do not show whether all
/// chips are steady, and the chips that remain could await removed tasks in different orders.
bool may_be_cut(const StepProgram& work, const Machine& machine, const SimulationOptions& options) {
  return options.engine == Engine::direct && machine.failures.empty() && work.chip_sets.empty();
}

}  // namespace

std::vector<Repetition> find_repetitions(const StepProgram& work, std::uint32_t least,
                                         std::uint32_t longest) {
  const std::vector<PlacedRun> runs = runs_by_task(work);
  if (!is_ordered(runs)) return {};
  return Finder(runs, least, longest).find();
}

StepProgram without(const StepProgram& work, const std::vector<Cut>& cuts) {
  const Renumbering numbers(work.tasks, cuts);
  StepProgram shorter{work.programs, work.chip_sets, {}, numbers.tasks()};
  for (const std::vector<TaskRun>& stream : work.streams) {
    std::vector<TaskRun>& kept = shorter.streams.emplace_back();
    for (const TaskRun& run : stream) {
      if (numbers.is_removed(run.task)) continue;
      TaskRun& one = kept.emplace_back(run);
      one.task = numbers[run.task];
      one.after.clear();
      for (const std::uint32_t before : run.after)
        if (const auto number = numbers.dependency(run.task, before);
            number && std::ranges::find(one.after, *number) == one.after.end())
          one.after.push_back(*number);
    }
  }
  return shorter;
}

StepTime find_cuts(const StepProgram& work, const Machine& machine, const Describe& describe,
                   const SimulationOptions& options) {
  const TimeResult full = simulate(work, machine, describe, options);
  StepTime found{full.time_s, {}};
  if (!may_be_cut(work, machine, options)) return found;
  // A run within another has at most this many tasks in a period.
  const std::uint32_t longest = work.tasks / (kLeastCount * kLeastCount);
  std::optional<TaskTimes> times(std::in_place, full, work.tasks, machine.ranks(), kSteady);
  Cuts& cuts = found.cuts;
  cuts.inner = cuts_of(work, *times, longest);
  keep_alike(cuts.inner);
  const StepProgram middle = without(work, cuts.inner);
  if (!cuts.empty()) {
    std::optional<Extended> extended = extended_times(work, machine, options, kSteady, cuts);
    times = extended ? std::optional(std::move(extended->times)) : std::nullopt;
  }
  if (times) cuts.outer = cuts_of(middle, *times, middle.tasks);
  std::erase_if(cuts.outer, [&](const Cut& cut) { return splits(cut, cuts.inner); });
  if (cuts.empty()) return found;
  const double time_s = step_time(work, machine, describe, options, cuts).time_s;
  if (!times || std::abs(time_s - full.time_s) > kSteady * full.time_s) cuts = {};
  return found;
}

std::optional<RepeatedTime> simulate_repeated(const StepProgram& work, const Machine& machine,
                                              const SimulationOptions& options) {
  if (!may_be_cut(work, machine, options)) return std::nullopt;
  Cuts cuts = shortest_cuts(work);
  while (!cuts.empty()) {
    const Cuts tried = cuts;
    std::optional<Extended> extended = extended_times(work, machine, options, kSteadyResult, cuts);
    if (!extended) continue;
    RepeatedTime repeated{std::move(extended->simulated), extended->tasks, tried};
    const std::uint32_t middle = without(work, tried.inner).tasks;
    repeated.time.time_s = extended->times.end_s();
    repeated.time.marks_s =
        with_periods(with_periods(extended->times.marks_s(), middle, machine.ranks(), tried.outer),
                     work.tasks, machine.ranks(), tried.inner);
    return repeated;
  }
  return std::nullopt;
}

StepTime step_time(const StepProgram& work, const Machine& machine, const Describe& describe,
                   const SimulationOptions& options, Cuts cuts) {
  while (!cuts.empty())
    if (const auto extended = extended_times(work, machine, options, kSteady, cuts))
      return {extended->times.end_s(), std::move(cuts)};
  return {simulate(work, machine, describe, options).time_s, {}};
}

}  // namespace equarx::sim
