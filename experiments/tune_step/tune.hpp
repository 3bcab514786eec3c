// Finds which collectives of a step to quantize, and how, for the shortest step above an SQNR.
//
// Collectives of one kind in one group of tasks are carried out alike. Each group is tuned alone first (ways.hpp);
// what is best in the step is then found by simulating whole steps, because a collective that is hidden gains nothing,
// and its core time is taken from what it hides beside (search.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/step.hpp"
#include "experiments/step/results.hpp"
#include "experiments/tune/tune.hpp"
#include "experiments/tune_step/groups.hpp"
#include "experiments/tune_step/ways.hpp"

namespace equarx::tune_step {

/// SQNR in decibels that each collective must reach if the user gives no limit, as `advise` has it.
inline constexpr double kDefaultSqnrDb = 30.0;

/// What was found for a group.
struct TunedGroup {
  CollectiveGroup group;
  Ways ways;
  std::size_t chosen = 0;  ///< index into ways
  double exposed_s = 0.0;  ///< of the group of tasks, in the baseline
  /// By way: time of the step if only this group is carried out so; none if it cannot run, or was not tried.
  std::vector<std::optional<double>> only_s;
};

/// All that `tune` has to say of a step.
struct StepTuneResult {
  tune::TuneOptions options;  ///< with the limit that holds
  std::vector<TunedGroup> groups;
  /// Its variants: the baseline; then with one group after the other as it was chosen, that first which makes the step
  /// shortest; the last has all, and is called "tuned". Only the baseline if nothing is better.
  step::StepResult step;
  std::uint64_t simulated = 0;     ///< steps
  std::uint64_t combinations = 0;  ///< that there are
  bool finished = true;            ///< the budget was enough
  std::string obstacle;            ///< why some combinations cannot run; empty if all can
};

/// `config`: whose baseline is to be improved; its other variants do not matter.
/// @throws input::InputError for options that are not for a step, for a step without collectives, and if a group has no
/// way within the limit
StepTuneResult tune_step(const config::StepConfig& config, const tune::TuneOptions& options,
                         const Progress& progress);

}  // namespace equarx::tune_step
