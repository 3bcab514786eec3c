// State shared by both direct execution modes (run_ahead and in_order).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engines/direct/inbox.hpp"
#include "sim/engines/direct/wiring.hpp"
#include "sim/progress.hpp"
#include "sim/time_executor.hpp"
#include "sim/time_result.hpp"
#include "sim/timeline.hpp"

namespace equarx::sim {

/// Inboxes, counters and trace of a run. Data by rank and channel is indexed by Wiring::index() of
/// the sender.
class Record {
 public:
  /// All arguments must outlive the object.
  Record(const Timelines& timelines, const Machine& machine, const SimulationOptions& options,
         Progress& progress);

  /// Index of the inbox from which a rank receives messages of a channel.
  std::size_t inbox_of(collectives::Rank receiver, collectives::ChannelId channel) const {
    return inbox_of_[wiring.index(receiver, channel)];
  }
  /// Receives the oldest message of an inbox.
  /// @throws std::logic_error if the step expects a different message
  void receive(std::size_t inbox, const Step& step) {
    const Step& sent = *inboxes[inbox].at(inboxes[inbox].received()).sent;
    if (sent.message != step.message) reject(sent, step);
    inboxes[inbox].receive();
    Moved& moved = moved_[inbox];
    ++moved.messages;
    moved.bytes += sent.bytes;
    moved.link_s += sent.link_s;
    if (++progress.received % kWatchInterval == 0 && watch_) watch_(progress.received);
  }
  void add_core_time(collectives::Rank rank, const Step& step, double start_s, double core_s,
                     double end_s) {
    result.core_busy_s[rank] += core_s;
    if (traced)
      result.trace.core.push_back({rank, step.instruction, core_work(step), start_s, end_s});
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

  const Timelines& timelines;
  const Machine& machine;
  Wiring wiring;
  bool traced;
  Progress& progress;
  std::vector<Inbox> inboxes;
  TimeResult result;

 private:
  static constexpr std::uint64_t kWatchInterval = 4096;

  struct Moved {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    double link_s = 0.0;
  };

  [[noreturn]] void reject(const Step& sent, const Step& expected);

  std::vector<std::size_t> inbox_of_;  ///< by receiver and channel
  std::vector<Moved> moved_;
  const Watch& watch_;
};

}  // namespace equarx::sim
