// What a simulation says.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/collectives/program.hpp"
#include "sim/machine.hpp"
#include "sim/timeline.hpp"

namespace equarx::sim {

/// A transfer that a failed link ended.
struct TransferFailure {
  double time_s = 0.0;  ///< when a chip noticed
  collectives::Rank sender = 0;
  collectives::Rank receiver = 0;
  collectives::MessageId message = 0;
  LinkIndex link = 0;

  bool operator==(const TransferFailure&) const = default;
};

/// What a core's time is spent on.
enum class CoreWork : std::uint8_t {
  program,   ///< an instruction
  start_up,  ///< of the program: see Costs
  other,     ///< not the program's: see Schedule
};

/// What a step spends its core time on.
CoreWork core_work(const Step& step);

/// Core time of one chip.
struct CoreEvent {
  collectives::Rank rank = 0;
  collectives::InstructionId instruction = 0;
  CoreWork work = CoreWork::program;
  double start_s = 0.0;
  double end_s = 0.0;

  bool operator==(const CoreEvent&) const = default;
};

/// One transfer that arrived.
struct TransferEvent {
  collectives::Rank sender = 0;
  collectives::Rank receiver = 0;
  collectives::MessageId message = 0;
  double sent_s = 0.0;     ///< when the sender's core had started it
  double arrived_s = 0.0;  ///< at the receiver

  bool operator==(const TransferEvent&) const = default;
};

/// What happened when, each list in the order of its start; what starts at once, in the order of ranks.
struct Trace {
  std::vector<CoreEvent> core;
  std::vector<TransferEvent> transfers;

  bool operator==(const Trace&) const = default;
};

/// What the instructions of one chip waited for, in seconds; core time is not among it.
struct Waits {
  double links_s = 0.0;    ///< for messages on their way: transmission, latency, others before them
  double senders_s = 0.0;  ///< for messages that their senders had not sent yet
  double queue_s = 0.0;    ///< to send, until a full DMA queue had room (Machine::dma_queue)

  bool operator==(const Waits&) const = default;
};

/// Adds what a chip waited for a message that was sent at `sent_s`, sooner or later than the wait began.
void add_wait(double since_s, double sent_s, double until_s, Waits& waits);

/// Adds `times` what a chip waited for to a sum.
void add_times(const Waits& waits, double times, Waits& sum);

/// When things were done in a simulation, and what moved over each link.
struct TimeResult {
  double time_s = 0.0;         ///< when the last chip was done, or the first noticed a failure
  std::uint64_t messages = 0;  ///< received by all chips together
  std::vector<std::uint64_t>
      link_bytes;                   ///< by link, of the messages that arrived; HBM: and of the core
  std::vector<double> link_busy_s;  ///< by link: time that those messages held it
  /// By rank, core time, and what instructions wait for HBM beyond it; not where other work goes on
  /// meanwhile (Schedule::overlap).
  std::vector<double> core_busy_s;
  std::vector<Waits> waits;                ///< by rank
  std::vector<double> marks_s;             ///< by rank and mark, when each was passed last
  std::optional<TransferFailure> failure;  ///< what ended the run before its time
  Trace trace;                             ///< if asked for

  bool operator==(const TimeResult&) const = default;
};

/// A failure ends the run once all has happened that happens at the same time, in seconds: cores that do
/// the same notice it in an order that means nothing. Two of SimGrid's ticks.
inline constexpr double kFailureInstant = 2e-12;

/// Keeps the failure that a chip noticed, if it is the first; of several noticed at once, that of the first
/// sender, receiver and message.
void note_failure(const TransferFailure& failure, TimeResult& result);

/// The last link of a route that is broken at `time_s`; the route's first one if none is.
LinkIndex broken_link(const Machine& machine, const Route& route, double time_s);

/// Adds what messages have moved over their route to a result: `bytes`, and `link_s` that they held its cables
/// besides. That is time for chips to synchronise, which takes nothing of HBM.
void add_moved(const Machine& machine, const Route& route, std::uint64_t bytes, double link_s,
               TimeResult& result);

/// Adds what a core has read from its HBM and written to it to a result.
void add_hbm_access(const Machine& machine, collectives::Rank rank, std::uint64_t bytes,
                    TimeResult& result);

/// Puts both lists into their order.
void sort_trace(Trace& trace);

}  // namespace equarx::sim
