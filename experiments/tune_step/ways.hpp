// In which ways the collectives of a group can be carried out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiments/config/step.hpp"
#include "experiments/step/plan.hpp"
#include "experiments/tune/tune.hpp"
#include "experiments/tune_step/groups.hpp"

namespace equarx::tune_step {

/// One way for all collectives of a group.
struct Way {
  std::string label;                                  ///< "equarx full-loop int8, 512 per scale"
  std::vector<config::CollectiveConfig> collectives;  ///< by call of the group
  double nmse = 0.0;                                  ///< the largest of them, computed on values
  double alone_s =
      0.0;              ///< of all the group's tasks, one after the other, with nothing beside them
  double core_s = 0.0;  ///< of core time that they take of a chip
};

/// What a step's tuning chooses among for a group.
struct Ways {
  std::vector<Way> ways;        ///< first as the baseline has it; then the fastest alone, and so on
  bool baseline_within = true;  ///< whether the first is within the limit
  std::string fixed;            ///< why there is no other; empty if there are, or if others lose
  std::uint64_t candidates = 0;  ///< that the group's tuning decided about
  std::uint64_t not_tried = 0;   ///< of them: would take too long to try, and might be better
};

/// Told what is done next, for who waits.
using Progress = std::function<void(const std::string&)>;

/// Tunes that collective of the group which moves the most, as if nothing else went on. Besides its front, that in one
/// microshard, and formats that would take long to tune in their usual cut, are candidates. Of those that are within
/// the limit for all collectives of the group, each is kept that no other, nor the baseline's, beats both in time and
/// in core time: beside a computation the second counts as well.
/// @throws input::InputError for formats that are not known, and if no way is within the limit
Ways find_ways(const config::StepConfig& config, const CollectiveGroup& group,
               const tune::TuneOptions& options, step::Planner& planner, const Progress& progress);

}  // namespace equarx::tune_step
