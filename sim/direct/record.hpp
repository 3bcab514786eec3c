// What both ways to run a program keep of it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/direct/inbox.hpp"
#include "sim/direct/wiring.hpp"
#include "sim/progress.hpp"
#include "sim/time_executor.hpp"
#include "sim/time_result.hpp"
#include "sim/timeline.hpp"

namespace equarx::sim {

/// Inboxes, counts and trace of a run. Everything of a rank and channel has the index of Wiring: that of
/// the sender.
class Record {
 public:
  /// All must outlive it.
  Record(const Timelines& timelines, const Machine& machine, const SimulationOptions& options,
         Progress& progress);

  /// The inbox that a rank takes messages of a channel from.
  std::size_t inbox_of(collectives::Rank receiver, collectives::ChannelId channel) const {
    return inbox_of_[wiring.index(receiver, channel)];
  }
  /// A receiver takes the oldest message of an inbox. @throws std::logic_error if it expects another one
  void receive(std::size_t inbox, const Step& step) {
    const Step& sent = *inboxes[inbox].at(inboxes[inbox].received()).sent;
    if (sent.message != step.message) refuse(sent, step);
    inboxes[inbox].receive();
    Moved& moved = moved_[inbox];
    ++moved.messages;
    moved.bytes += sent.bytes;
    moved.link_s += sent.link_s;
    if (++progress.received % kMessagesBetweenLooks == 0 && watch_) watch_(progress.received);
  }
  void add_core_time(collectives::Rank rank, const Step& step, double start_s, double core_s,
                     double end_s) {
    result.core_busy_s[rank] += core_s;
    if (traced)
      result.trace.core.push_back({rank, step.instruction, core_work(step), start_s, end_s});
  }
  /// @return its number in the trace, if there is one.
  std::uint32_t add_transfer(const Pair& pair, const Step& step, double sent_s, double arrived_s);
  void mark(collectives::Rank rank, const Step& step, double now_s) {
    result.marks_s[rank * timelines.marks + step.number] = now_s;
  }
  void finish(collectives::Rank rank, std::uint32_t stream, double now_s) {
    if (now_s > result.time_s) result.time_s = now_s;
    progress.at(rank, stream).done = true;
  }

  /// The result, with what the messages held of the links.
  TimeResult take();

  const Timelines& timelines;
  const Machine& machine;
  Wiring wiring;
  bool traced;
  Progress& progress;
  std::vector<Inbox> inboxes;
  TimeResult result;

 private:
  static constexpr std::uint64_t kMessagesBetweenLooks = 4096;

  struct Moved {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    double link_s = 0.0;
  };

  [[noreturn]] void refuse(const Step& sent, const Step& expected);

  std::vector<std::size_t> inbox_of_;  ///< by receiver and channel
  std::vector<Moved> moved_;
  const Watch& watch_;
};

}  // namespace equarx::sim
