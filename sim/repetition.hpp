// Time of a step that repeats itself: layers, microbatches, iterations of a loop.
//
// A run of equal periods of tasks becomes steady if the times of all its tasks on all chips differ
// from those of one (or two) periods before by the same d, and no other task is active meanwhile:
// the states of all streams, links and queues are then equal d apart, and further periods delay
// everything after them by d each. Once one simulation in full has shown which runs become steady,
// and when, similar steps are simulated with the first and the last periods of these runs only, and
// the rest is added. A step that does not become steady is simulated in full again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/step_program.hpp"
#include "sim/time_executor.hpp"

namespace equarx::sim {

/// Relative difference up to which times of a steady run may differ: an order of magnitude below the
/// digits that samples and searches use. Exact equality can take many periods, as chips that share a
/// core time unequally approach it geometrically.
inline constexpr double kSteady = 1e-5;
/// The same for the times of results, an order of magnitude below the 1e-9 to which they hold.
inline constexpr double kSteadyResult = 1e-10;

/// Consecutive tasks that repeat `count` times: task i + `period` does what task i does, after the
/// corresponding tasks. Dependencies on tasks before the run may differ.
struct Repetition {
  std::uint32_t first = 0;   ///< task number
  std::uint32_t period = 0;  ///< tasks, > 0
  std::uint32_t count = 0;   ///< periods

  std::uint32_t end() const { return first + period * count; }
  bool operator==(const Repetition&) const = default;
};

/// Returns the disjoint runs of at least `least` periods of at most `longest` tasks, in ascending
/// order. Empty if a task precedes one of its dependencies. `least` >= 2.
std::vector<Repetition> find_repetitions(const StepProgram& work, std::uint32_t least,
                                         std::uint32_t longest);

/// Removes the periods from `begin` to `end` - 1 of a run.
struct Cut {
  Repetition run;
  std::uint32_t begin = 0;  ///< period, > 0
  std::uint32_t end = 0;    ///< period, <= run.count

  std::uint32_t tasks() const { return (end - begin) * run.period; }
};

/// Returns the work without the removed tasks, renumbered. Within a run, dependencies on removed
/// tasks become dependencies on the corresponding remaining ones; others are dropped. `cuts`:
/// disjoint, ascending.
StepProgram without(const StepProgram& work, const std::vector<Cut>& cuts);

/// Parts left out of a step: first periods of short runs, as layers, then of runs that contain
/// these, as microbatches. Each list is disjoint and ascending.
struct Cuts {
  std::vector<Cut> inner;
  std::vector<Cut> outer;  ///< of the step without the inner ones, in its numbering

  bool empty() const { return inner.empty() && outer.empty(); }
};

/// Time of a step, and the cuts with which it can be found.
struct StepTime {
  double time_s = 0.0;
  Cuts cuts;  ///< empty if the step has to be simulated in full
};

/// Simulates a step in full. Returns cuts of the runs that become steady early, if they yield its
/// time to within kSteady; none with SimGrid, for machines that change with time, and for tasks of
/// some chips only.
/// @throws SimulationError as simulate()
StepTime find_cuts(const StepProgram& work, const Machine& machine, const Describe& describe,
                   const SimulationOptions& options);

/// Times of a step that was simulated without its steady periods.
struct RepeatedTime {
  /// time_s and marks_s for the whole step; the other fields for the simulated tasks.
  TimeResult time;
  std::uint32_t tasks = 0;  ///< number of simulated tasks
  Cuts cuts;
};

/// Simulates a step without most periods of its runs, which is never simulated in full, and adds
/// their times: each is a steady period after the one before. Times have a relative error of the
/// order of kSteadyResult. std::nullopt if no run becomes steady early, and as for find_cuts().
/// @throws SimulationError as simulate()
std::optional<RepeatedTime> simulate_repeated(const StepProgram& work, const Machine& machine,
                                              const SimulationOptions& options);

/// Returns the time of a step as simulate(), but for a relative error of the order of kSteady. `cuts`:
/// of a step with the same tasks on a similar machine. Leaves more periods of a run that is not
/// steady yet, and returns the cuts that were used.
/// @throws SimulationError as simulate()
StepTime step_time(const StepProgram& work, const Machine& machine, const Describe& describe,
                   const SimulationOptions& options, Cuts cuts);

}  // namespace equarx::sim
