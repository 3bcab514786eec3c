// When each transfer of a trace held its links.
#pragma once

#include <span>
#include <vector>

#include "sim/machine.hpp"
#include "sim/time_result.hpp"
#include "sim/timeline.hpp"

namespace equarx::sim {

/// When a transfer went over the links of its route; all at once, as a train longer than the way.
struct LinkTime {
  double start_s = 0.0;
  double end_s = 0.0;  ///< the last byte leaves the sender: it arrives a latency later
  /// Others may pass on a link at the same time, and share its rate: the time includes theirs.
  bool shared = false;
};

/// Of each transfer, in the order of the trace. A link that one pair of chips uses is a FIFO: a transfer
/// holds it for its bytes at the rate of the slowest link, and what its message costs besides. On shared
/// links it is under way from when the one before it, between the same chips, has left.
std::vector<LinkTime> link_times(const collectives::Program& program, const Machine& machine,
                                 const Costs& costs, std::span<const TransferEvent> transfers);

}  // namespace equarx::sim
