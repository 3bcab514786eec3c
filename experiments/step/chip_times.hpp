// Times of tasks on every chip of a step whose chips run different tasks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "experiments/config/step.hpp"
#include "models/steps/roles.hpp"
#include "models/steps/step.hpp"
#include "sim/classes.hpp"
#include "sim/time_result.hpp"

namespace equarx::step {

/// Critical path of a step whose chips differ, in order, and the end of each of its tasks in s on the
/// chip that the path takes.
struct CriticalPath {
  std::vector<steps::TaskId> tasks;
  std::vector<double> end_s;
};

/// Simulated times by chip and task. Chips are numbered as in Mesh::chip().
class ChipTimes {
 public:
  /// `time`: of a simulation of all chips, or of one for each of `classes` (null: all). Config and time
  /// are kept by reference.
  ChipTimes(const config::StepConfig& config, const sim::TimeResult& time,
            const sim::ChipClasses* classes = nullptr);

  /// The first chip of each class, or all chips, ascending.
  const std::vector<std::uint32_t>& chips() const { return chips_; }

  const steps::Roles& roles() const { return roles_; }
  /// Start and end on a chip that runs the task.
  steps::TaskTime on(std::uint32_t chip, steps::TaskId task) const;
  /// By task, the earliest start and the latest end on the chips that run it.
  std::vector<steps::TaskTime> of_all() const;
  /// The task that ends last on any chip, preceded by the one that it waited for: of its dependencies
  /// and the previous task of the stream, on its chip or, if it is a collective or awaits a message, on
  /// the chips of its group or the sender, the one that ended last; and so on.
  CriticalPath critical_path() const;

 private:
  struct At {
    std::uint32_t chip = 0;
    steps::TaskId task = 0;
  };

  At last() const;
  /// The chips whose earlier tasks delay a task on a chip: itself and the ones it awaits.
  std::vector<std::uint32_t> delaying(const At& at) const;
  bool precede(const At& at, At& before) const;

  const config::StepConfig& config_;
  const sim::TimeResult& time_;
  steps::Roles roles_;
  std::vector<std::uint32_t> chips_;
  std::vector<collectives::Rank> rank_of_chip_;     ///< in the simulation
  std::vector<std::vector<steps::TaskId>> before_;  ///< predecessors by task
};

}  // namespace equarx::step
