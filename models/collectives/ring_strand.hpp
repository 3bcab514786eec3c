// The strand of one segment of a collective on rings: its state while it is written.
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

/// A minishard that arrives from a direction or leaves in it.
struct Path {
  Direction direction;
  Tile tile;
};

/// Order of the operations on a minishard within a step. Two strands in lockstep alternate at each
/// of these positions, and at each microshard in between, because the links of both deliver at the
/// same time: finishing one strand first would stall the other's link.
struct StepPosition {
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

/// The phase and stage being written, the time, and the messages in flight.
class RingStrand {
 public:
  /// `directions`: used by the segment. `axes_beyond`: number of trailing axes without rings, along
  /// which sums are exchanged by other means between the ReduceScatter and the AllGather.
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

  /// True if the AllGather does not directly continue with the sums of the ReduceScatter.
  bool stops_between() const { return stages_.axes_beyond() > 0; }
  Phase phase() const { return phase_; }

  /// Begins a stage, whose first step waits for the messages in sent_ahead(), if any.
  void enter(Phase phase, std::size_t stage);
  /// Continues with another phase in the same stage: its first step waits for the last transfers.
  void enter(Phase phase) { phase_ = phase; }
  /// Delays due times to the begin of a stage, which has to wait for its links.
  void not_before(Phase phase, std::size_t stage);
  /// Begins a step that forwards the data received in the previous step.
  void begin_step() { begin_step({arrived_ - step_time(), step_time()}, step_time()); }
  /// Begins a step that sends the rank's own values, which are available at once.
  void begin_own_step() { begin_step({arrived_, 0.0}, step_time()); }
  /// Begins a step whose arrivals are the last of this stage and are forwarded along the axis of
  /// another.
  void begin_turning_step(std::size_t next) {
    begin_step({arrived_ - step_time(), step_time()}, timetable_.step(phase_, tour_, next));
  }
  void end_step() { arrived_ = time_ += step_time(); }
  /// Begins processing the last arrivals of a stage with nothing left to send. Takes no time.
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

  /// Sets the due time to a position and microshard of a minishard of this step; all microshards
  /// together span `positions` positions. It is the arrival time of that part per the timetable,
  /// but at the earliest kAhead messages before the link is free for it: a core with full queues
  /// blocks, and all strands with it.
  void due(std::uint32_t minishard, double position, double micro = 0.0, double positions = 1.0);

  /// Messages that the last step sent in a direction.
  SentMinishard& sent(Direction direction, std::uint32_t minishard) {
    return sent_[index(direction)][minishard];
  }
  /// Messages sent along the axis of the next stage; enter() makes them the last step's.
  SentMinishard& sent_ahead(Direction direction, std::uint32_t minishard) {
    return sent_ahead_[index(direction)][minishard];
  }

  MessageId send(BufferId buffer, Direction direction, ChannelId channel, Origin origin);
  /// Sends a buffer of the rank's own to the next rank.
  MessageId send_own(BufferId buffer, Direction direction) {
    return send(buffer, direction, stages_.channel(direction, stage_), {});
  }
  /// Forwards a received message.
  MessageId forward(MessageId received, Direction direction);

  /// Quantized minishards pass through receive buffers that are reused in the next step, so before
  /// one is sent the neighbours must have room: EQuARX's one barrier per minishard. A plain ring
  /// receives into distinct locations of the tensor and needs none.
  void barrier(std::uint32_t minishard, double position, const Tile& tile);

 private:
  /// Messages still queued on a link when the core starts the next one. DMA queues have room for
  /// more (configs/hardware/).
  static constexpr double kAhead = 8.0;

  /// Arrival times of the transfers of a finished step: evenly spread over `time`, starting at
  /// `from`.
  struct Arrivals {
    double from = 0.0;
    double time = 0.0;
  };

  /// By direction and minishard.
  using Transfers = std::array<std::vector<SentMinishard>, kDirections>;

  /// The AllGather's chunks are the final chunks of the ReduceScatter, in every stage.
  std::uint32_t uncut() const {
    return phase_ == Phase::all_gather ? stages_.axes_beyond() : stages_.uncut(stage_);
  }
  const Cut& cut() const { return partition().cut(stages_.segment(), uncut()); }
  void begin_step(Arrivals arrivals, double send_time);
  double step_time() const { return timetable_.step(phase_, tour_, stage_); }
  /// Lead of the core over the link for its part of a step that takes `time`.
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
  double time_ = 0.0;       ///< start of this step, in units of the timetable
  double arrived_ = 0.0;    ///< when all transfers of the last step have arrived
  double earliest_ = 0.0;   ///< earliest time to issue transfers for this stage's links
  Arrivals arrivals_;       ///< processed by this step
  double send_from_ = 0.0;  ///< when its own transfers can start
  double send_time_ = 0.0;  ///< duration of its own transfers
  double last_due_ = -std::numeric_limits<double>::infinity();
  /// By direction: true if the next message is the first of a quantized step.
  std::array<bool, kDirections> step_begins_{};
  Transfers sent_;
  Transfers sent_ahead_;
};

}  // namespace equarx::collectives
