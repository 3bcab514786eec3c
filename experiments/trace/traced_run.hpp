// A traced collective, as input of the functions that write its tracks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/plan/plan.hpp"
#include "experiments/trace/events.hpp"
#include "sim/link_times.hpp"
#include "sim/time_executor.hpp"

namespace equarx::trace {

/// Thread of a chip's process: its core.
inline constexpr std::uint32_t kCore = 1;
/// Thread of a chip's process: the first of its DMAs.
inline constexpr std::uint32_t kFirstDma = 2;

/// A transfer's times, in order.
struct DrawnTransfer {
  Picoseconds sent = 0;     ///< handed to the DMA
  Picoseconds start = 0;    ///< on its links
  Picoseconds end = 0;      ///< off its links
  Picoseconds arrived = 0;  ///< at the receiver
};

/// A collective that ran. The objects it refers to must outlive it.
struct TracedRun {
  /// Processes are numbered from `first_process`.
  TracedRun(TraceEventWriter& writer, const plan::CollectivePlan& plan, const sim::TimeResult& time,
            std::uint32_t first_process);

  std::uint32_t process(collectives::Rank rank) const { return first_process + rank; }
  std::uint32_t links_process() const { return first_process + machine.ranks(); }
  Track dma_track(collectives::Rank rank, std::size_t channel) const {
    return {process(rank), kFirstDma + static_cast<std::uint32_t>(channel)};
  }
  std::string dma_name(std::size_t channel) const {
    return "DMA " + program.channels[channel].name;
  }
  /// Arguments of a transfer's slice, as a JSON object.
  std::string arguments_of(std::size_t transfer) const;

  TraceEventWriter& writer;
  const plan::CollectivePlan& plan;
  const collectives::Program& program;
  const sim::Machine& machine;
  const sim::TimeResult& time;
  std::uint32_t first_process;
  std::vector<sim::LinkTime> link_times;  ///< by transfer
  std::vector<DrawnTransfer> drawn;       ///< by transfer
};

/// Writes the tracks of the cores.
void write_cores(const TracedRun& run);
/// Writes the tracks of the DMAs, with arrows from sender to receiver.
void write_transfers(const TracedRun& run);
/// Writes the tracks of the links.
void write_links(const TracedRun& run);

}  // namespace equarx::trace
