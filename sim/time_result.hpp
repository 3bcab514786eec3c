// Results of a simulation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/collectives/program.hpp"
#include "sim/machine.hpp"
#include "sim/timeline.hpp"

namespace equarx::sim {

/// A transfer aborted by a link failure.
struct TransferFailure {
  double time_s = 0.0;  ///< when a chip detected it
  collectives::Rank sender = 0;
  collectives::Rank receiver = 0;
  collectives::MessageId message = 0;
  LinkIndex link = 0;

  bool operator==(const TransferFailure&) const = default;
};

/// Category of core time.
enum class CoreWork : std::uint8_t {
  program,   ///< an instruction of the program
  start_up,  ///< startup of the program, see Costs::start_s
};

/// Returns the category of the core time of a step.
CoreWork core_work(const Step& step);

/// An interval of core time of one chip.
struct CoreEvent {
  collectives::Rank rank = 0;
  collectives::InstructionId instruction = 0;
  CoreWork work = CoreWork::program;
  double start_s = 0.0;
  double end_s = 0.0;

  bool operator==(const CoreEvent&) const = default;
};

/// A completed transfer.
struct TransferEvent {
  collectives::Rank sender = 0;
  collectives::Rank receiver = 0;
  collectives::MessageId message = 0;
  double sent_s = 0.0;     ///< when the sender's core had started it
  double arrived_s = 0.0;  ///< arrival at the receiver

  bool operator==(const TransferEvent&) const = default;
};

/// Trace of a run. Both lists are sorted by start time, then by rank.
struct Trace {
  std::vector<CoreEvent> core;
  std::vector<TransferEvent> transfers;

  bool operator==(const Trace&) const = default;
};

/// Wait times of the instructions of one chip in s, excluding core time.
struct Waits {
  double links_s = 0.0;    ///< for messages in flight: transmission, latency, queueing
  double senders_s = 0.0;  ///< for messages not sent yet
  double queue_s = 0.0;    ///< of sends, for a free slot in the DMA queue (Machine::dma_queue)

  bool operator==(const Waits&) const = default;
};

/// Adds the wait from `since_s` to `until_s` for a message sent at `sent_s`, which may precede the
/// wait.
void add_wait(double since_s, double sent_s, double until_s, Waits& waits);

/// Adds `times` x `waits` to `sum`.
void add_times(const Waits& waits, double times, Waits& sum);

/// Times and traffic of a simulation.
struct TimeResult {
  double time_s = 0.0;  ///< finish time of the last chip, or the first detection of a failure
  std::uint64_t messages = 0;  ///< received, over all chips
  std::uint64_t jumped = 0;    ///< of them, those passed over (SimulationOptions::jumps)
  std::vector<std::uint64_t>
      link_bytes;  ///< by link, of received messages; for HBMs including core accesses
  std::vector<double> link_busy_s;  ///< by link: time for which those messages held it
  /// By rank: core time, plus waits of instructions for HBM unless other work can use the core
  /// meanwhile (Timelines::streams).
  std::vector<double> core_busy_s;
  std::vector<Waits> waits;                ///< by rank
  std::vector<double> marks_s;             ///< by rank and mark: time of the latest pass
  std::optional<TransferFailure> failure;  ///< set if a failure ended the run
  Trace trace;                             ///< empty unless SimulationOptions::traced

  bool operator==(const TimeResult&) const = default;
};

/// Time in s by which the end of a failed run is delayed to include all simultaneous events, since
/// identical cores detect a failure in arbitrary order. Two SimGrid ticks.
inline constexpr double kFailureInstant = 2e-12;

/// Records a detected failure. Keeps the earliest; among simultaneous ones, the lowest (sender,
/// receiver, message).
void note_failure(const TransferFailure& failure, TimeResult& result);

/// Returns the last link of a route that has failed by `time_s`; the first link if none has.
LinkIndex broken_link(const Machine& machine, const Route& route, double time_s);

/// Adds the traffic of messages on a route to a result: `bytes`, and `link_s` of additional time on
/// its chip-to-chip links. The latter is sync time, which does not use HBM.
void add_moved(const Machine& machine, const Route& route, std::uint64_t bytes, double link_s,
               TimeResult& result);

/// Adds an HBM access by a core to a result.
void add_hbm_access(const Machine& machine, collectives::Rank rank, std::uint64_t bytes,
                    TimeResult& result);

/// Sorts both lists.
void sort_trace(Trace& trace);

}  // namespace equarx::sim
