// Runs a program on SimGrid, without tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "models/collectives/program.hpp"
#include "sim/machine.hpp"
#include "sim/progress.hpp"
#include "sim/timeline.hpp"

namespace equarx::sim {

/// A simulation that did not come to its end: a defect of ours. Says which chip was where.
class SimulationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A transfer that a failed link ended.
struct TransferFailure {
  double time_s = 0.0;  ///< when a chip noticed
  collectives::Rank sender = 0;
  collectives::Rank receiver = 0;
  collectives::MessageId message = 0;
  LinkIndex link = 0;

  bool operator==(const TransferFailure&) const = default;
};

/// Core time of one chip.
struct CoreEvent {
  collectives::Rank rank = 0;
  collectives::InstructionId instruction = 0;
  bool other_work = false;  ///< not the program's: see Schedule
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

/// What happened when, each list in the order of its start.
struct Trace {
  std::vector<CoreEvent> core;
  std::vector<TransferEvent> transfers;

  bool operator==(const Trace&) const = default;
};

/// When things were done in a simulation, and what moved over each link.
struct TimeResult {
  double time_s = 0.0;         ///< when the last chip was done, or the first noticed a failure
  std::uint64_t messages = 0;  ///< received by all chips together
  std::vector<std::uint64_t> link_bytes;   ///< by link, of the messages that arrived
  std::vector<double> link_busy_s;         ///< by link: time that those messages held it
  std::vector<double> core_busy_s;         ///< by rank
  std::optional<TransferFailure> failure;  ///< what ended the run before its time
  Trace trace;                             ///< if asked for

  bool operator==(const TimeResult&) const = default;
};

/// What is simulated besides the program once.
struct SimulationOptions {
  Schedule schedule;    ///< the program once, by default
  bool traced = false;  ///< keep a trace
};

/// Runs `program` on all chips of `machine` in the simulated time that its links and `costs` take. Every
/// chip is an actor that runs its list in order; a send is an asynchronous DMA, links are FIFO servers, a
/// wait blocks the core until the arrival.
///
/// A uniform program may be written for more ranks than the machine has (see representative()).
/// A link that fails while a transfer needs it ends the run; the result says where.
/// Only one simulation can run in a process, ever, because SimGrid has one engine; so this forks one
/// and waits for it. Not to be called while the calling process has other threads.
/// @throws SimulationError if the simulation deadlocks or crashes, naming the chip and the instruction.
TimeResult simulate(const collectives::Program& program, const Machine& machine, const Costs& costs,
                    const SimulationOptions& options = {});

namespace detail {

/// What simulate() does in its child process. Ends the process at a deadlock, with `progress` telling so.
TimeResult simulate_here(const collectives::Program& program, const Machine& machine,
                         const Costs& costs, const SimulationOptions& options, Progress& progress);

}  // namespace detail
}  // namespace equarx::sim
