#include "models/collectives/ring_all_gather.hpp"

#include <algorithm>

#include "models/collectives/ring_sums.hpp"

namespace equarx::collectives {
namespace {

/// Encoded buffers of a minishard of the own shard, to be gathered by all.
struct OwnBuffers {
  BufferId scales = 0;
  std::vector<BufferId> payload;  ///< by microshard
};

Direction opposite(Direction direction) {
  return direction == Direction::forward ? Direction::backward : Direction::forward;
}

class AllGather {
 public:
  explicit AllGather(RingStrand& strand)
      : strand_(strand),
        writer_(strand.writer()),
        stages_(strand.stages()),
        own_(writer_.program().partition.cut(stages_.segment(), stages_.axes_beyond()).minishards) {
  }

  void write() {
    const bool only = !follows_sums();
    const std::size_t last_stage = stages_.count() - 1;
    if (only)
      strand_.enter(Phase::all_gather, last_stage);
    else
      strand_.enter(Phase::all_gather);
    strand_.not_before(Phase::all_gather, last_stage);
    if (only)
      strand_.begin_own_step();
    else
      strand_.begin_step();
    strand_.for_each_minishard([&](std::uint32_t minishard) { turn(minishard); });
    strand_.end_step();
    for (std::size_t stage = stages_.count(); stage-- > 0;) {
      const std::uint32_t last = strand_.longest();
      for (std::uint32_t step = 1; step <= last; ++step) {
        begin_passing(step);
        strand_.for_each_minishard([&](std::uint32_t minishard) { pass_on(minishard, step); });
        if (turns(step))
          strand_.enter(Phase::all_gather, stage - 1);  // its larger chunks are in flight now
        strand_.end_step();
      }
    }
  }

 private:
  /// True if its first step adds the last arrivals of a ReduceScatter.
  bool follows_sums() const {
    return strand_.collective() == Collective::all_reduce && !strand_.stops_between();
  }

  void begin_passing(std::uint32_t step) {
    if (!turns(step)) return strand_.begin_step();
    strand_.not_before(Phase::all_gather, next_stage());
    strand_.begin_turning_step(next_stage());
  }

  /// The end of the ReduceScatter and the start of the AllGather, at a shard's owner.
  void turn(std::uint32_t minishard) {
    const bool sums = follows_sums();
    const Tile tile = strand_.tile(minishard, 0);
    std::vector<Path> paths;
    Outgoing outgoing{tile, {}};
    for (const Direction direction : strand_.directions_with(1)) {
      if (sums) paths.push_back({direction, tile});
      outgoing.directions.push_back(direction);
    }
    const bool scales_found = sums && numerics::same_groups(strand_.format(Phase::reduce_scatter),
                                                            strand_.format(Phase::all_gather));
    RingSums(strand_).sum_and_send(paths, Phase::all_gather, {outgoing}, scales_found);
    save_own(minishard, outgoing.directions.front());
    writer_.for_each_microshard(tile, [&](std::uint32_t micro) {
      strand_.due(minishard, StepPosition::kDeliver, micro);
      writer_.deliver(at(tile, micro), own_[minishard].payload[micro]);
    });
  }

  /// Saves the buffers that turn() has just sent.
  void save_own(std::uint32_t minishard, Direction direction) {
    const SentMinishard& sent = strand_.sent(direction, minishard);
    OwnBuffers& own = own_[minishard];
    own.payload.clear();
    for (const MessageId message : sent.payload) own.payload.push_back(strand_.buffer_of(message));
    if (sent.scales) own.scales = strand_.buffer_of(*sent.scales);
  }

  void pass_on(std::uint32_t minishard, std::uint32_t step) {
    std::vector<Path> paths;
    for (const Direction direction : strand_.directions_with(step)) {
      const Offset offset = strand_.offset_by(opposite(direction), step);
      paths.push_back({direction, strand_.tile(minishard, offset)});
    }
    const bool any_forwards = turns(step) || std::ranges::any_of(paths, [&](const Path& path) {
                                return step < strand_.steps(path.direction);
                              });
    if (strand_.format(Phase::all_gather).scaled) {
      if (any_forwards) strand_.barrier(minishard, StepPosition::kArrival, paths.front().tile);
    }
    if (numerics::sends_scales(strand_.format(Phase::all_gather))) {
      strand_.due(minishard, StepPosition::kPassScales);
      for (const Path& path : paths) pass_on_scales(path, step);
      if (turns(step)) send_gathered_scales(minishard);
    }
    writer_.for_each_microshard(paths.front().tile, [&](std::uint32_t micro) {
      strand_.due(minishard, StepPosition::kSum, micro);
      for (const Path& path : paths) pass_on_payload(path, step, micro);
      if (turns(step)) send_gathered_payload(minishard, micro);
    });
  }

  /// True after the last step along an axis: the gathered data continues along the next axis.
  bool turns(std::uint32_t step) const { return step == strand_.longest() && strand_.stage() > 0; }

  void pass_on_scales(const Path& path, std::uint32_t step) {
    std::optional<MessageId>& scales = strand_.sent(path.direction, path.tile.minishard).scales;
    writer_.wait(*scales);
    if (step < strand_.steps(path.direction)) scales = strand_.forward(*scales, path.direction);
  }

  void pass_on_payload(const Path& path, std::uint32_t step, std::uint32_t micro) {
    MessageId& message = strand_.sent(path.direction, path.tile.minishard).payload[micro];
    const BufferId payload = strand_.buffer_of(message);
    const Origin origin = writer_.program().received(writer_.program().messages[message]);
    writer_.wait(message);
    if (step < strand_.steps(path.direction)) message = strand_.forward(message, path.direction);
    writer_.deliver(at(path.tile, micro), payload, origin);
  }

  void send_gathered_scales(std::uint32_t minishard) {
    for_each_next([&](Direction direction) {
      strand_.sent_ahead(direction, minishard).scales =
          send_gathered(own_[minishard].scales, direction);
    });
  }

  void send_gathered_payload(std::uint32_t minishard, std::uint32_t micro) {
    for_each_next([&](Direction direction) {
      strand_.sent_ahead(direction, minishard)
          .payload.push_back(send_gathered(own_[minishard].payload[micro], direction));
    });
  }

  /// The AllGather takes the stages from the last to the first.
  std::size_t next_stage() const { return strand_.stage() - 1; }

  /// Calls `visit` with the directions of the next stage.
  template <typename Visit>
  void for_each_next(Visit visit) {
    for (const Direction direction : stages_.directions_with(1, next_stage())) visit(direction);
  }

  /// Sends every rank's own buffer and the buffers gathered so far along the axis of the next
  /// stage.
  MessageId send_gathered(BufferId own, Direction direction) {
    const Origin origin{.offset = 0, .gathered = stages_.later_axes(next_stage())};
    return strand_.send(own, direction, stages_.channel(direction, next_stage()), origin);
  }

  RingStrand& strand_;
  ProgramWriter& writer_;
  const RingStages& stages_;
  std::vector<OwnBuffers> own_;  ///< by minishard
};

}  // namespace

void write_all_gather(RingStrand& strand) { AllGather(strand).write(); }

}  // namespace equarx::collectives
