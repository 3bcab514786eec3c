// A program with the core time of its instructions, packed for the simulation's inner loop.
#pragma once

#include <cstdint>
#include <vector>

#include "models/collectives/program.hpp"

namespace equarx::sim {

/// What a program costs on a chip, in seconds.
struct Costs {
  std::vector<double> core_s;  ///< core time of each instruction
  std::vector<double> link_s;  ///< time that each message holds its link besides its bytes
};

/// What a chip does next: `delay_s` of core time, then a transfer.
struct Step {
  enum class Kind : std::uint8_t { send, wait, end };

  Kind kind = Kind::end;
  collectives::ChannelId channel = 0;
  double delay_s = 0.0;
  std::uint64_t bytes = 0;             ///< of a send
  double link_s = 0.0;                 ///< of a send, besides its bytes
  collectives::MessageId message = 0;  ///< of a send or wait
  collectives::InstructionId instruction = 0;
};

/// What one rank does. Vector work between two transfers is one delay: nothing outside the chip can see
/// it in parts. The core time of a send comes before it, that of a wait after the arrival.
std::vector<Step> make_timeline(const collectives::Program& program, const Costs& costs,
                                collectives::Rank rank = 0);

/// The timelines of all ranks; those that do the same share one.
struct Timelines {
  std::vector<std::vector<Step>> lists;
  std::vector<std::uint32_t> list_of_rank;

  const std::vector<Step>& of(collectives::Rank rank) const { return lists[list_of_rank[rank]]; }
};

/// Timelines of `ranks` ranks. A uniform program may run on fewer ranks than it is written for.
Timelines make_timelines(const collectives::Program& program, const Costs& costs,
                         std::uint32_t ranks);

}  // namespace equarx::sim
