// State shared by both direct execution modes (run_ahead and in_order).
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "sim/classes.hpp"
#include "sim/engines/direct/inbox.hpp"
#include "sim/engines/direct/wiring.hpp"
#include "sim/progress.hpp"
#include "sim/time_executor.hpp"
#include "sim/time_result.hpp"
#include "sim/timeline.hpp"

namespace equarx::sim {

/// A chip received another message than its instruction expects.
class UnexpectedMessage : public std::logic_error {
 public:
  UnexpectedMessage(collectives::Rank receiver, const Step& sent, const Step& expected);

  collectives::Rank receiver() const { return receiver_; }

 private:
  collectives::Rank receiver_;
};

/// Inboxes, counters and trace of a run. Data by rank and channel is indexed by Wiring::index() of
/// the sender.
class Record {
 public:
  /// `chips`: by rank of `machine`, the one whose timelines it runs. All arguments but these must outlive
  /// the object.
  Record(const Timelines& timelines, const Machine& machine,
         std::span<const collectives::Rank> chips, const SimulationOptions& options,
         Progress& progress);

  /// First step of a stream.
  const Step* steps_of(collectives::Rank rank, std::uint32_t stream = 0) const {
    return timelines.of(chips_[rank], stream).data();
  }

  /// Index of the list of a chip with one stream.
  std::size_t list_of(collectives::Rank rank) const { return timelines.list_of[chips_[rank]]; }

  /// Index of the inbox from which a rank receives messages of a channel.
  std::size_t inbox_of(collectives::Rank receiver, collectives::ChannelId channel) const {
    return inbox_of_[wiring.index(receiver, channel)];
  }
  /// Gives the receiver of a channel an inbox of its own, apart from the inbox of its sender, to be
  /// filled by the caller. Returns its index.
  std::size_t separate_inbox(collectives::Rank receiver, collectives::ChannelId channel);
  /// Adds the messages of separate inboxes to those of the senders'.
  void join_inboxes();

  /// Receives the oldest message of an inbox.
  /// @throws UnexpectedMessage if the step of `receiver` expects a different message
  void receive(collectives::Rank receiver, std::size_t inbox, const Step& step) {
    const Step& sent = *inboxes[inbox].at(inboxes[inbox].received()).sent;
    if (sent.message != step.message) reject(receiver, sent, step);
    inboxes[inbox].receive();
    Moved& sum = moved[inbox];
    ++sum.messages;
    sum.bytes += sent.bytes;
    sum.link_s += sent.link_s;
  }
  /// Counts a received message, and now and then calls SimulationOptions::watch.
  void count_received() {
    if (++progress.received % kWatchInterval == 0) watch();
  }
  /// Calls SimulationOptions::watch. Only for the thread of the caller of simulate().
  void watch() const {
    if (watch_) watch_(progress.received);
  }
  /// `instruction`: of the step
  void add_core_time(collectives::Rank rank, const Step& step,
                     collectives::InstructionId instruction, double start_s, double core_s,
                     double end_s) {
    result.core_busy_s[rank] += core_s;
    if (traced) result.trace.core.push_back({rank, instruction, core_work(step), start_s, end_s});
  }
  /// Returns the index in the trace; 0 if not traced.
  std::uint32_t add_transfer(const Pair& pair, const Step& step, double sent_s, double arrived_s);
  void mark(collectives::Rank rank, const Step& step, double now_s) {
    result.marks_s[rank * timelines.marks + step.number] = now_s;
  }
  void finish(collectives::Rank rank, std::uint32_t stream, double now_s) {
    if (now_s > result.time_s) result.time_s = now_s;
    progress.at(rank, stream).done = true;
  }

  /// Returns the result, completed by the link usage of the messages.
  TimeResult take();
  /// Returns the result of all chips of another machine; this one has a chip for each class.
  TimeResult take(const Machine& all, const ChipClasses& classes);

  const Timelines& timelines;
  const Machine& machine;
  Wiring wiring;
  bool traced;
  Progress& progress;
  /// Received messages of an inbox.
  struct Moved {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    double link_s = 0.0;
  };

  std::vector<Inbox> inboxes;
  std::vector<Moved> moved;  ///< by inbox
  TimeResult result;

 private:
  static constexpr std::uint64_t kWatchInterval = 4096;

  /// An inbox of a receiver, apart from the inbox of its sender.
  struct SeparateInbox {
    std::size_t of_receiver = 0;
    std::size_t of_sender = 0;
  };

  [[noreturn]] void reject(collectives::Rank receiver, const Step& sent, const Step& expected);

  std::vector<collectives::Rank> chips_;
  std::vector<std::size_t> inbox_of_;  ///< by receiver and channel
  std::vector<SeparateInbox> separate_;
  const Watch& watch_;
};

}  // namespace equarx::sim
