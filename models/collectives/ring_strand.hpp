// The strand of one segment of a collective on rings: how far it has been written.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "models/collectives/minishard_writer.hpp"
#include "models/collectives/program_writer.hpp"
#include "models/collectives/ring_options.hpp"
#include "models/collectives/ring_stage.hpp"
#include "models/collectives/ring_timetable.hpp"

namespace equarx::collectives {

/// A minishard that arrives from, or goes on in, a direction.
struct Path {
  Direction direction;
  Tile tile;
};

/// What is done with a minishard in a step, in this order. Two strands that run in step take turns at each of
/// these places, and at each microshard in between, because the links of both deliver at the same time: to
/// finish one first would keep the other one's link waiting.
struct StepPlace {
  static constexpr double kArrival = 0.0;
  static constexpr double kPassScales = 0.5;
  static constexpr double kSum = 1.0;
  static constexpr double kFindScales = 2.0;
  static constexpr double kBarrier = 3.0;
  static constexpr double kSendScales = 4.0;
  static constexpr double kSendPayload = 5.0;
  static constexpr double kDeliver = 6.0;
  static constexpr double kEnd = 8.0;
};

/// The phase and stage that are being written, the time, and the messages under way.
class RingStrand {
 public:
  /// `directions`: those that the segment uses. `axes_beyond`: of its axes, the last ones, along which no ring
  /// goes: sums are exchanged along them between the ReduceScatter and the AllGather, by others.
  RingStrand(ProgramWriter& writer, const RingTimetable& timetable, RingStyle style,
             std::uint32_t segment, std::vector<Direction> directions,
             std::uint32_t axes_beyond = 0)
      : writer_(writer),
        timetable_(timetable),
        tour_(segment / ring_segments(style)),
        stages_(writer, style, segment, std::move(directions), axes_beyond) {}

  ProgramWriter& writer() const { return writer_; }
  const RingStages& stages() const { return stages_; }
  Collective collective() const { return writer_.program().collective; }
  const numerics::BlockFormat& format(Phase phase) const { return writer_.program().format(phase); }
  BufferId buffer_of(MessageId message) const { return writer_.program().messages[message].buffer; }

  /// Whether the ReduceScatter ends in sums that the AllGather does not go on with at once.
  bool stops_between() const { return stages_.axes_beyond() > 0; }
  Phase phase() const { return phase_; }

  /// Begins a stage, whose first step waits for what send_ahead() keeps, if for anything.
  void enter(Phase phase, std::size_t stage);
  /// Goes on to another phase within the stage: its first step waits for the last transfers.
  void enter(Phase phase) { phase_ = phase; }
  /// What follows is due no sooner than a stage is, which has to wait for its links.
  void not_before(Phase phase, std::size_t stage);
  /// Begins a step that passes on what the step before has brought.
  void begin_step() { begin_step({arrived_ - step_time(), step_time()}, step_time()); }
  /// One that sends the rank's own values, which are there already.
  void begin_own_step() { begin_step({arrived_, 0.0}, step_time()); }
  /// One whose arrivals are the last of this stage, and are sent on along the axis of another.
  void begin_turning_step(std::size_t next) {
    begin_step({arrived_ - step_time(), step_time()}, timetable_.step(phase_, tour_, next));
  }
  void end_step() { arrived_ = time_ += step_time(); }
  /// Begins what is done with the last arrivals of a stage when nothing is left to send. It takes no time.
  void begin_last_arrivals();

  std::size_t stage() const { return stage_; }
  std::uint32_t steps(Direction direction) const { return stages_.steps(direction, stage_); }
  std::uint32_t longest() const { return stages_.longest(stage_); }
  std::vector<Direction> directions_with(std::uint32_t steps) const {
    return stages_.directions_with(steps, stage_);
  }
  Offset offset_by(Direction direction, std::uint32_t hops) const {
    return stages_.offset_by(direction, hops, stage_);
  }
  /// A tile of the chunks of this phase and stage.
  Tile tile(std::uint32_t minishard, Offset offset) const {
    return stages_.tile(minishard, offset, uncut());
  }
  template <typename Visit>
  void for_each_minishard(Visit visit) const {
    for (std::uint32_t minishard = 0; minishard < cut().minishards; ++minishard) visit(minishard);
  }

  /// What follows is due at a place, and microshard, of a minishard of this step; all microshards together
  /// take up `places` places. It is due when that part has arrived, by the timetable, but no sooner than
  /// kAhead messages before the link wants it: a core whose queues are full waits, and all strands with it.
  void due(std::uint32_t minishard, double place, double micro = 0.0, double places = 1.0);

  /// What the last step sent in a direction.
  SentMinishard& sent(Direction direction, std::uint32_t minishard) {
    return sent_[index(direction)][minishard];
  }
  /// What has been sent along the axis of the next stage, which enter() makes the last step's.
  SentMinishard& sent_ahead(Direction direction, std::uint32_t minishard) {
    return sent_ahead_[index(direction)][minishard];
  }

  MessageId send(BufferId buffer, Direction direction, ChannelId channel, Origin origin);
  /// Sends a buffer that the rank has made to the next one.
  MessageId send_own(BufferId buffer, Direction direction) {
    return send(buffer, direction, stages_.channel(direction, stage_), {});
  }
  /// Passes on what has been received.
  MessageId forward(MessageId received, Direction direction);

  /// Quantized minishards pass through receive buffers that are used again for the next step, so before
  /// one is sent the neighbours must have room: the one barrier per minishard of EQuARX. A plain ring
  /// receives into a place of its own in the tensor and needs none.
  void barrier(std::uint32_t minishard, double place, const Tile& tile);

 private:
  /// Messages that a link may have to move yet when the core turns to the next one. DMA queues have room
  /// for more (configs/hardware/).
  static constexpr double kAhead = 8.0;

  /// When the transfers of a step that is over arrived: evenly from a time on, for so long.
  struct Arrivals {
    double from = 0.0;
    double time = 0.0;
  };

  /// By direction and minishard.
  using Transfers = std::array<std::vector<SentMinishard>, kDirections>;

  /// The AllGather's chunks are those that the ReduceScatter ends with, whatever the stage.
  std::uint32_t uncut() const {
    return phase_ == Phase::all_gather ? stages_.axes_beyond() : stages_.uncut(stage_);
  }
  const Cut& cut() const { return partition().cut(stages_.segment(), uncut()); }
  void begin_step(Arrivals arrivals, double send_time);
  double step_time() const { return timetable_.step(phase_, tour_, stage_); }
  /// How long before the link wants its part of a step the core may turn to it, if all of it takes `time`.
  double ahead(double time) const {
    const double messages = static_cast<double>(cut().minishards) * cut().microshards;
    return time * std::min(1.0, kAhead / messages);
  }
  const Partition& partition() const { return writer_.program().partition; }

  ProgramWriter& writer_;
  const RingTimetable& timetable_;
  std::size_t tour_;
  RingStages stages_;
  Phase phase_ = Phase::reduce_scatter;
  std::size_t stage_ = 0;
  double time_ = 0.0;       ///< when this step begins, in the units of the timetable
  double arrived_ = 0.0;    ///< when the last step's transfers have all arrived
  double earliest_ = 0.0;   ///< when this stage's links may be given orders
  Arrivals arrivals_;       ///< that this step works on
  double send_from_ = 0.0;  ///< when its own transfers can begin
  double send_time_ = 0.0;  ///< and how long they take
  double last_due_ = -std::numeric_limits<double>::infinity();
  /// Whether the next message in a direction is the first of a quantized step.
  std::array<bool, kDirections> step_begins_{};
  Transfers sent_;
  Transfers sent_ahead_;
};

}  // namespace equarx::collectives
