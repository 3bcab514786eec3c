#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "sim/engines/direct/core.hpp"
#include "sim/engines/direct/jumps.hpp"
#include "sim/engines/direct/record.hpp"
#include "sim/engines/direct/shared_links.hpp"

namespace equarx::sim {

/// Discrete-event simulation in time order. Supports shared and failing links, and cores shared by
/// several streams.
class InOrder {
 public:
  /// `record` must outlive the object. With `jumps`, states that repeat are passed over (Jumps).
  InOrder(Record& record, bool jumps);
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;

  /// Returns false on a deadlock: no event is pending but some chips are not done.
  bool run();

 private:
  friend class Jumps;

  using ListId = std::uint32_t;
  static constexpr ListId kNoList = 0xFFFFFFFF;
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  enum class Phase : std::uint8_t {
    before_work,
    working,
    accessing,
    lasting,
    acting,
    draining,
    over
  };
  /// State of one instruction stream of a chip.
  struct List {
    const Step* step = nullptr;
    const Step* run = nullptr;  ///< the run whose list contains `step`, if any
    Phase phase = Phase::before_work;
    const Step* jump = nullptr;          ///< step at which a jump may begin
    double due_s = kNever;               ///< when it resumes, if scheduled
    std::uint64_t order = 0;             ///< among streams that resume at the same time
    double start_s = 0.0;                ///< start of the current work
    double core_s = 0.0;                 ///< when the current work last left the core
    double acts_s = 0.0;                 ///< when the current send or wait began
    bool on_core = false;                ///< occupies the core
    bool on_hbm = false;                 ///< has an HBM access in flight
    collectives::ChannelId channel = 0;  ///< channel being drained
  };
  struct Alarm {
    double time_s = 0.0;
    std::uint64_t order = 0;
    ListId list = 0;
    bool operator<(const Alarm& other) const {  // std::priority_queue is a max-heap
      return time_s != other.time_s ? time_s > other.time_s : order > other.order;
    }
  };
  /// Number of unconsumed occurrences of an event, and the stream waiting for it.
  struct Event {
    std::uint32_t happened = 0;
    ListId waiting = kNoList;
  };

  collectives::Rank rank_of(ListId list) const { return list / streams_; }
  std::uint32_t stream_of(ListId list) const { return list % streams_; }
  Event& event_of(ListId list, const Step& step) {
    return events_[rank_of(list) * record_.timelines.events + step.number];
  }

  static collectives::InstructionId instruction_of(const List& list) {
    return (list.run != nullptr ? list.run : list.step)->instruction;
  }

  double next_s();
  void go_on(ListId list);
  void leave(std::span<const SharedLinks::Cargo> gone, bool failed);
  void wake(ListId& waiting);
  void schedule(ListId list, double time_s);
  void resume(ListId list);
  void begin_access(ListId list, const Step& step);
  void end_access(ListId list);
  double least_end_s(ListId list, const Step& step) const;
  void take_core(ListId list, double delay_s);
  void leave_core(ListId list);
  void record_work(ListId list, const Step& step);
  void update_core_end(collectives::Rank rank);
  void advance(ListId list);
  bool act(ListId list, const Step& step);
  bool send(ListId list, const Step& step);
  bool retire_oldest(ListId list, std::size_t index);
  void start(std::size_t index, const Step& step);
  bool receive(ListId list, const Step& step);
  bool drain(ListId list);
  bool await(ListId list, Event& event);
  void stop_at_failure(ListId list, std::size_t index, const Transfer& transfer);
  void drop_lost_transfers();

  Record& record_;
  SharedLinks links_;
  std::uint32_t streams_;
  bool shares_core_;
  double now_s_ = 0.0;
  double last_s_ = kNever;  ///< end of the simulation after a failure; later events are discarded
  std::uint64_t order_ = 0;
  std::priority_queue<Alarm> alarms_;
  std::vector<List> lists_;
  std::vector<SharedCore> cores_;
  TimeHeap core_ends_;  ///< by rank: when the first stream of a shared core finishes its work
  std::vector<Event> events_;           ///< by rank and event
  std::vector<double> free_s_;          ///< by pair with exclusive links
  std::vector<ListId> receiver_waits_;  ///< by inbox
  std::vector<ListId> sender_waits_;    ///< by inbox
  std::vector<LinkFailure> failures_;   ///< latest first
  std::optional<Jumps> jumps_;
};

}  // namespace equarx::sim
