// What a simulated chip does.
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

/// What all chips of a run share. Actors take turns in one thread, so nothing here needs a lock.
class Run {
 public:
  Run(const Timelines& timelines, const Machine& machine, bool traced, Progress& progress);

  /// Index of what there is for each rank and channel.
  std::size_t index(collectives::Rank rank, collectives::ChannelId channel) const {
    return rank * channels + channel;
  }
  // Of a trace:
  void add_core_event(collectives::Rank rank, const Step& step, double start_s);
  void add_transfer(collectives::Rank from, const Way& way, collectives::MessageId message,
                    const simgrid::s4u::CommPtr& comm);

  /// Once the run has ended: of the trace, those that never arrived.
  void drop_lost_transfers();

  const Timelines& timelines;
  const Machine& machine;
  std::size_t channels;
  bool traced;
  bool shared;  ///< links are: arrivals are later than SimGrid's by the latency of their way
  Progress& progress;
  std::vector<simgrid::s4u::Mailbox*> mailboxes;  ///< of the receiver, by rank and channel
  std::vector<std::uint64_t> received;            ///< messages that a rank has waited for, likewise
  std::vector<collectives::Rank> senders;         ///< who sends to a rank, likewise
  /// When messages were sent that a rank has not waited for, the oldest first, likewise.
  std::vector<std::deque<double>> sent_s;
  std::vector<simgrid::s4u::SemaphorePtr> events;  ///< by rank and event
  TimeResult result;
};

/// A stream of a chip: an actor that runs its list in order, and the DMAs that it has started. The streams of a chip
/// share its core fairly.
class ChipStream {
 public:
  ChipStream(Run& run, collectives::Rank rank, std::uint32_t stream);

  /// Runs the list.
  void live();

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
  bool failed_ = false;                           ///< it has noticed that a transfer failed
  std::vector<collectives::ChannelId> channels_;  // that this stream sends and waits in
  std::vector<std::deque<Outgoing>> outgoing_;    // by channel
  std::vector<std::uint64_t> retired_;            // by channel
  std::size_t next_to_look_at_ = 0;  // of channels_, for transfers that have been received
};

}  // namespace equarx::sim
