// Link occupancy of the transfers of a trace.
#pragma once

#include <span>
#include <vector>

#include "sim/machine.hpp"
#include "sim/time_result.hpp"
#include "sim/timeline.hpp"

namespace equarx::sim {

/// Interval in which a transfer occupied all links of its route (cut-through).
struct LinkTime {
  double start_s = 0.0;
  double end_s = 0.0;  ///< the last byte leaves the sender, and arrives one latency later
  /// Other transfers may share a link at the same time; the interval includes the slowdown.
  bool shared = false;
};

/// Returns the occupancy of each transfer, in trace order. An exclusive link is a FIFO: a transfer
/// holds it for its bytes at the rate of the slowest link plus the link time of its message
/// (Costs::link_s). On shared links a transfer is in flight from when the previous one between the
/// same chips has left.
std::vector<LinkTime> link_times(const collectives::Program& program, const Machine& machine,
                                 const Costs& costs, std::span<const TransferEvent> transfers);

}  // namespace equarx::sim
