// Candidate configurations for the collectives of a group.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "experiments/config/step.hpp"
#include "experiments/step/plan.hpp"
#include "experiments/tune/tune.hpp"
#include "experiments/tune_step/groups.hpp"

namespace equarx::tune_step {

/// One configuration for all collectives of a group.
struct StepCandidate {
  std::string label;                                  ///< "equarx full-loop int8, 512 per scale"
  std::vector<config::CollectiveConfig> collectives;  ///< by call of the group
  double nmse = 0.0;                                  ///< largest over the calls, computed
  double isolated_s = 0.0;  ///< sum over the group's tasks, without overlap
  double core_s = 0.0;      ///< core time per chip, sum over the group's tasks
};

/// Candidates of a group.
struct GroupCandidates {
  std::vector<StepCandidate> list;  ///< baseline first, then ascending isolated time
  bool baseline_within = true;      ///< the baseline is within the limit
  std::uint64_t considered = 0;     ///< candidates in the tuning of the group
  std::uint64_t not_tried = 0;      ///< skipped as too expensive; may be better
};

/// Called with a progress message.
using Progress = std::function<void(const std::string&)>;

/// Results of tuning by experiment: groups often have equal collectives.
using TunedExperiments = std::map<std::string, tune::TuneResult>;

/// Tunes the largest collective of the group in isolation, unless `tuned` has it. Candidates are its front, the front with
/// one microshard, and the default algorithm and tiling of formats that are too expensive to tune.
/// Returns those within the error limit for all collectives of the group that no other candidate,
/// the baseline included, dominates in isolated time and core time; the latter matters when
/// overlapped with compute.
/// @throws input::InputError for unknown formats and if no candidate is within the limit
GroupCandidates find_candidates(const config::StepConfig& config, const CollectiveGroup& group,
                                const tune::TuneOptions& options, step::Planner& planner,
                                TunedExperiments& tuned, const Progress& progress);

}  // namespace equarx::tune_step
