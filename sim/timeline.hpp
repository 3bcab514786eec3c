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
  double start_s = 0.0;        ///< core time before each run of the program: its start-up
  /// What each instruction reads from HBM and writes to it, in bytes, where the core shares HBM with DMAs;
  /// else empty, and the time it takes is in core_s.
  std::vector<std::uint64_t> hbm_bytes = {};
  /// Of the core time of an instruction with such bytes, what passes before they move; the rest passes
  /// beside them.
  double before_hbm_s = 0.0;
};

/// Bytes by which the simulated time of a message misses its link_s at most: it is simulated as bytes
/// besides its own, rounded to whole ones.
inline constexpr double kHeldLinkRoundingBytes = 0.5;

/// What a list does next: `delay_s` of core time; if it has `hbm_bytes`, these and beside them `beside_s` of
/// core time, until both are done; then what its kind says.
struct Step {
  enum class Kind : std::uint8_t {
    work,     ///< nothing more
    start,    ///< nothing more; the core time is that of the program's start-up
    compute,  ///< nothing more; the core time is that of other work than the program's
    host,  ///< nothing more; the time is that of a transfer to or from the host, and none of the core's
    send,
    wait,
    signal,  ///< an event has happened once more; other lists of the chip may wait for it
    await,   ///< wait until an event has happened once more than it was waited for
    mark,    ///< note the time
    end,     ///< the list is done
  };

  Kind kind = Kind::end;
  /// Of a send or wait: its channel. Of a signal or await: the event. Of a mark: its number.
  std::uint32_t number = 0;
  double delay_s = 0.0;
  std::uint64_t bytes = 0;             ///< of a send
  double link_s = 0.0;                 ///< of a send, besides its bytes
  collectives::MessageId message = 0;  ///< of a send or wait
  collectives::InstructionId instruction = 0;
  std::uint64_t hbm_bytes = 0;  ///< that the core reads from its HBM and writes to it
  double beside_s = 0.0;        ///< core time beside these bytes
};

/// Bytes that a send holds links of `rate` B/s for: its own, and those that could pass in its link_s.
std::uint64_t held_bytes(const Step& send, double rate);

/// What every chip does: a program, once or several times, and other work of its core in between.
struct Schedule {
  /// Core time before each run of the program, and after the last.
  std::vector<double> compute_s = {0.0, 0.0};
  /// 0: a chip waits for each run to end before it goes on. Else a run goes on beside the core time that
  /// follows it, until that of so many runs later, which needs its result.
  std::uint32_t overlap = 0;
};

/// What one rank does. Vector work between two transfers is one delay: nothing outside the chip can see
/// it in parts, but for what it takes of HBM: an instruction that does ends a step. The core time of a send
/// comes before it, that of a wait after the arrival. `traced`: every instruction has a step of its own.
/// @throws std::logic_error if an instruction or message has no cost
std::vector<Step> make_timeline(const collectives::Program& program, const Costs& costs,
                                collectives::Rank rank = 0, bool traced = false);

/// What all ranks do. Each has one list of steps or several, its streams: they go on side by side and share its core.
/// Lists that are the same are kept once.
struct Timelines {
  std::vector<std::vector<Step>> lists;
  std::vector<std::uint32_t> list_of;  ///< index into lists, by rank and stream
  std::uint32_t streams = 1;           ///< of each rank
  std::vector<std::uint32_t>
      stream_of_channel;     ///< that sends and waits in it; of all the first if empty
  std::uint32_t events = 0;  ///< of each rank: what its lists signal and await
  std::uint32_t marks = 0;   ///< of each rank

  const std::vector<Step>& of(collectives::Rank rank, std::uint32_t stream = 0) const {
    return lists[list_of[rank * streams + stream]];
  }
  std::uint32_t stream_of(collectives::ChannelId channel) const {
    return stream_of_channel.empty() ? 0 : stream_of_channel[channel];
  }
};

/// The first rank of each range of ranks that do the same in a program, rising; the first is 0.
std::vector<collectives::Rank> first_ranks_of_alike(const collectives::Program& program);

/// Timelines of `ranks` ranks. A uniform program may run on fewer ranks than it is written for.
Timelines make_timelines(const collectives::Program& program, const Costs& costs,
                         std::uint32_t ranks, const Schedule& schedule = {}, bool traced = false);

}  // namespace equarx::sim
