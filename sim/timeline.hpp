// Programs with costs, lowered to steps for the inner loop of the simulation.
#pragma once

#include <cstdint>
#include <vector>

#include "models/collectives/program.hpp"

namespace equarx::sim {

/// Costs of a program on a chip, in s.
struct Costs {
  std::vector<double> core_s;  ///< core time of each instruction
  /// Time for which each message holds its link in addition to its bytes.
  std::vector<double> link_s;
  double start_s = 0.0;  ///< core time before each run of the program (startup)
  /// HBM bytes read and written by each instruction, if core and DMAs share HBM; otherwise empty,
  /// and HBM time is included in core_s.
  std::vector<std::uint64_t> hbm_bytes = {};
  /// Part of the core time of an instruction with HBM bytes that precedes the access; the rest
  /// overlaps it.
  double before_hbm_s = 0.0;
  /// Least duration of each instruction, of which the core is used for core_s only; none if empty.
  /// For a wait, after the arrival.
  std::vector<double> least_s = {};
  /// By rank, if ranks differ in the work of their instructions (Program::counts); the members above
  /// then belong to the rank with the most core time.
  std::vector<Costs> by_rank = {};

  const Costs& of(collectives::Rank rank) const { return by_rank.empty() ? *this : by_rank[rank]; }
};

/// Maximum error in bytes of a simulated link_s, which is converted to whole bytes (held_bytes()).
inline constexpr double kHeldLinkRoundingBytes = 0.5;

/// One step of an instruction stream: `delay_s` of core time, followed by `hbm_bytes`, if any,
/// overlapped with `overlapped_s` of core time, followed by the action of its kind.
struct Step {
  enum class Kind : std::uint8_t {
    work,     ///< no action
    start,    ///< no action; the core time is the startup of the program
    compute,  ///< no action; the core time is work outside the program
    host,     ///< no action; the time is a host transfer and does not use the core
    send,
    wait,
    signal,  ///< post an event to the other streams of the chip
    await,   ///< wait for an occurrence of an event and consume it
    mark,    ///< record the time
    run,     ///< run another list to its end, as part of this one
    end,     ///< end of the list
  };

  Kind kind = Kind::end;
  /// Channel of a send or wait; event of a signal or await; number of a mark; list of a run.
  std::uint32_t number = 0;
  double delay_s = 0.0;
  std::uint64_t bytes = 0;             ///< of a send
  double link_s = 0.0;                 ///< of a send, in addition to its bytes
  double latency_s = 0.0;              ///< of a send, in addition to that of its route; >= 0
  collectives::MessageId message = 0;  ///< of a send or wait
  collectives::InstructionId instruction = 0;  ///< in a list that others run: unused
  std::uint64_t hbm_bytes = 0;                 ///< read and written by the core
  double overlapped_s = 0.0;                   ///< core time that overlaps these bytes
  double least_s = 0.0;  ///< least time from the start of the step to its action, also off the core
};

/// Effective bytes of a send on links of `rate` B/s: its own plus the equivalent of its link_s.
std::uint64_t held_bytes(const Step& send, double rate);

/// Returns the steps of one rank. Core work between two transfers is merged into one delay, as its
/// parts are not observable outside the chip; an instruction with HBM bytes ends a step. The core
/// time of a send precedes it; the core time of a wait follows the arrival. With `traced`, every
/// instruction has its own step.
/// Only for programs of one stream.
/// @throws std::logic_error if an instruction or message has no cost, or there are several streams
std::vector<Step> make_timeline(const collectives::Program& program, const Costs& costs,
                                collectives::Rank rank = 0, bool traced = false);

/// Steps of all ranks. Each rank has one or more concurrent instruction streams that share its
/// core. Identical streams are stored once in `lists`, and so are parts that streams run several times;
/// these precede them, and contain no runs.
struct Timelines {
  std::vector<std::vector<Step>> lists;
  std::vector<std::uint32_t> list_of;  ///< index into lists, by rank and stream
  std::uint32_t streams = 1;           ///< per rank
  /// Stream that receives the messages of the channel; stream 0 for all if empty.
  std::vector<std::uint32_t> stream_of_channel;
  /// Stream that sends them; the same if empty.
  std::vector<std::uint32_t> sender_of_channel = {};
  std::uint32_t events = 0;  ///< per rank, for signal and await
  std::uint32_t marks = 0;   ///< per rank

  const std::vector<Step>& of(collectives::Rank rank, std::uint32_t stream = 0) const {
    return lists[list_of[rank * streams + stream]];
  }
  std::uint32_t stream_of(collectives::ChannelId channel) const {
    return stream_of_channel.empty() ? 0 : stream_of_channel[channel];
  }
  std::uint32_t sender_of(collectives::ChannelId channel) const {
    return sender_of_channel.empty() ? stream_of(channel) : sender_of_channel[channel];
  }
};

/// Returns the first rank of each range of ranks with identical instructions, ascending from 0.
std::vector<collectives::Rank> rank_range_starts(const collectives::Program& program);

/// Builds the timelines of `ranks` ranks. A uniform program may run on fewer ranks than it has. All
/// streams of a program start when its startup is over. A stream that needs a buffer of its rank
/// waits for the stream that fills it.
/// @throws std::logic_error if a channel is used by several streams
Timelines make_timelines(const collectives::Program& program, const Costs& costs,
                         std::uint32_t ranks, bool traced = false);

}  // namespace equarx::sim
