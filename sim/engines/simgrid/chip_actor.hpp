// SimGrid actors of the simulated chips.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include <simgrid/s4u.hpp>

#include "sim/machine.hpp"
#include "sim/progress.hpp"
#include "sim/time_result.hpp"
#include "sim/timeline.hpp"

namespace equarx::sim {

/// State shared by all chips of a run. SimGrid runs actors one at a time in one thread, so no locks
/// are needed.
class Run {
 public:
  Run(const Timelines& timelines, const Machine& machine, bool traced, Progress& progress);

  /// Index for data by rank and channel.
  std::size_t index(collectives::Rank rank, collectives::ChannelId channel) const {
    return rank * channels + channel;
  }
  // Tracing:
  void add_core_event(collectives::Rank rank, const Step& step,
                      collectives::InstructionId instruction, double start_s);
  void add_transfer(collectives::Rank from, const OutPort& port, collectives::MessageId message,
                    double latency_s, const simgrid::s4u::CommPtr& comm);

  /// Removes transfers from the trace that never arrived; call after the run.
  void drop_lost_transfers();

  const Timelines& timelines;
  const Machine& machine;
  std::size_t channels;
  bool traced;
  bool shared;  ///< links are shared: arrivals lag SimGrid's by the latency of their route
  bool late;    ///< arrivals lag SimGrid's, by that or by Step::latency_s
  Progress& progress;
  std::vector<simgrid::s4u::Mailbox*> mailboxes;  ///< of the receiver, by rank and channel
  std::vector<std::uint64_t> received;            ///< messages received, likewise
  std::vector<collectives::Rank> senders;         ///< sender to a rank, likewise
  /// Send times of messages not received yet, oldest first, likewise.
  std::vector<std::deque<double>> sent_s;
  std::vector<simgrid::s4u::SemaphorePtr> events;  ///< by rank and event
  TimeResult result;
};

/// An instruction stream of a chip: an actor that runs its steps in order, and its outstanding
/// DMAs. Streams of a chip share its core fairly.
class ChipStream {
 public:
  ChipStream(Run& run, collectives::Rank rank, std::uint32_t stream);

  /// Runs all steps.
  void run();

 private:
  struct Outgoing {
    simgrid::s4u::CommPtr comm;
    collectives::MessageId message;
  };

  void take(const Step& step);
  void work(const Step& step);
  double occupy_core(double delay_s);
  double access_hbm(const Step& step);
  void send(const Step& step);
  void wait(const Step& step);
  void receive(const Step& step, void*& arrived);
  void retire(collectives::ChannelId channel);
  void retire_received(collectives::ChannelId channel);
  void fail(collectives::Rank from, collectives::ChannelId channel, collectives::MessageId message);
  void finish();
  void mark(const Step& step);
  simgrid::s4u::Semaphore& event(const Step& step) const;
  simgrid::s4u::Mailbox* mailbox(collectives::Rank receiver, collectives::ChannelId channel) const;
  collectives::Rank sender(collectives::ChannelId channel) const;

  Run& run_;
  collectives::Rank rank_;
  std::uint32_t stream_;
  double slowdown_;
  bool shares_core_;
  collectives::InstructionId instruction_ = 0;    ///< of the current step
  bool failed_ = false;                           ///< a failed transfer was detected
  std::vector<collectives::ChannelId> receives_;  // channels in which this stream receives
  std::vector<collectives::ChannelId> sends_;     // channels in which it sends
  std::vector<std::deque<Outgoing>> outgoing_;    // by channel
  std::vector<std::uint64_t> retired_;            // by channel
  std::size_t next_polled_ = 0;  // index into sends_, to poll for received transfers
};

}  // namespace equarx::sim
