// Recorded times of collectives, by kind.
#pragma once

#include <cstdint>
#include <vector>

#include "importers/profile/profile.hpp"

namespace equarx::profile {

/// Executions of equal collectives: same kind, bytes, type and groups.
struct Recorded {
  Call call;  ///< of the first
  std::uint64_t times = 0;
  // Durations of an execution, the shortest on any recorded chip of its group.
  double median_s = 0.0;
  double min_s = 0.0;
  double max_s = 0.0;
};

/// Communication of the recorded chips, means over them.
struct Communication {
  double span_s = 0.0;     ///< from the first to the last recorded device time
  double running_s = 0.0;  ///< time with a collective
  double exposed_s = 0.0;  ///< part without any other kernel or operation
};

/// Completes groups: a profile of one rank names only its own, whose translations are the others if
/// they divide the chips; otherwise the other chips are idle, which is noted.
void complete_groups(Profile& profile, std::uint32_t chips);

/// Summarizes executions, longest total first. Executions of a call on several chips are matched in
/// order; if their numbers differ they are kept apart, which is noted.
std::vector<Recorded> recorded(Profile& profile);

Communication communication(const Profile& profile);

}  // namespace equarx::profile
