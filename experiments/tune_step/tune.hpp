// Chooses a configuration for each group of a step's collectives: shortest step above an SQNR
// limit.
//
// Each group is tuned in isolation first (candidates.hpp); the best combination is then found by
// simulating whole steps, because a hidden collective gains nothing from quantization while its
// core time slows the compute it overlaps (search.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/step.hpp"
#include "experiments/step/results.hpp"
#include "experiments/tune/tune.hpp"
#include "experiments/tune_step/candidates.hpp"
#include "experiments/tune_step/groups.hpp"

namespace equarx::tune_step {

/// Default SQNR limit per collective in dB, as in `advise`.
inline constexpr double kDefaultSqnrDb = 30.0;

/// Result for one group.
struct TunedGroup {
  CollectiveGroup group;
  GroupCandidates candidates;
  std::size_t chosen = 0;  ///< index into candidates.list
  double exposed_s = 0.0;  ///< exposed time of the group in the baseline
  /// Step time with only this group changed, by candidate; std::nullopt if infeasible or not
  /// simulated.
  std::vector<std::optional<double>> only_s;
};

/// Result of tuning a step.
struct StepTuneResult {
  tune::TuneOptions options;  ///< with the effective error limit
  std::vector<TunedGroup> groups;
  /// Variants: the baseline, then path_to() the best choice, whose variant is labelled "tuned".
  /// Only the baseline if no choice is better.
  step::StepResult step;
  std::uint64_t simulated = 0;     ///< number of simulated choices
  std::uint64_t combinations = 0;  ///< size of the search space
  bool finished = true;            ///< false if the budget ended the search
  std::string obstacle;            ///< why some combinations cannot run; empty if all can
};

/// @throws input::InputError for options that do not apply to steps: time limits, promises
void check_options(const tune::TuneOptions& options);

/// `config`: its baseline is tuned; other variants are ignored.
/// @throws input::InputError for options that do not apply to steps, for a step without
/// collectives, and if a group has no candidate within the limit
StepTuneResult tune_step(const config::StepConfig& config, const tune::TuneOptions& options,
                         const Progress& progress);

/// Likewise, without results of steps and exposed times. The configuration of `step` has the
/// baseline and the best choice, if it is another.
StepTuneResult find_best(const config::StepConfig& config, const tune::TuneOptions& options,
                         const Progress& progress);

}  // namespace equarx::tune_step
