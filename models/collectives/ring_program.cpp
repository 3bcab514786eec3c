#include "models/collectives/ring_program.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/collectives/program_writer.hpp"

namespace equarx::collectives {
namespace {

constexpr Direction kBothDirections[] = {Direction::forward, Direction::backward};

std::size_t index(Direction direction) { return static_cast<std::size_t>(direction); }

Direction opposite(Direction direction) {
  return direction == Direction::forward ? Direction::backward : Direction::forward;
}

/// The messages that carry one minishard one hop: what a step sends, and the next one waits for.
struct Transfer {
  std::optional<MessageId> scales;
  std::vector<MessageId> payload;
};

/// What a rank has encoded of its own shard's minishard, to be gathered by all.
struct OwnBuffers {
  BufferId scales = 0;
  std::vector<BufferId> payload;
};

/// Writes the strand of one segment: stage after stage, each a ring along one axis.
class SegmentBuilder {
 public:
  /// `directions`: those that this segment uses.
  SegmentBuilder(ProgramWriter& writer, const RingOptions& options, std::uint32_t segment,
                 std::vector<Direction> directions)
      : writer_(writer),
        partition_(writer.program().partition),
        options_(options),
        segment_(segment),
        axes_(partition_.segment(segment).axes),
        directions_(std::move(directions)),
        own_(partition_.cut(segment).minishards) {
    for (std::size_t stage = 0; stage < axes_.size(); ++stage) add_channels(stage);
  }

  void write() {
    if (options_.collective != Collective::all_gather) reduce_scatter();
    if (options_.collective != Collective::reduce_scatter) all_gather();
  }

 private:
  /// A minishard that arrives from, or goes on in, a direction.
  struct Path {
    Direction direction;
    Tile tile;
  };

  /// A minishard to encode, and where to send it.
  struct Outgoing {
    Tile tile;
    std::vector<Direction> directions;
  };

  // Places within the time of a minishard's step, in eighths. Two strands that run in step take turns
  // at each of them, and at each microshard in between, because the links of both deliver at the same
  // time: to finish one first would keep the other one's link waiting.
  static constexpr double kArrival = 0.0;
  static constexpr double kSum = 1.0;
  static constexpr double kFindScales = 2.0;
  static constexpr double kBarrier = 3.0;
  static constexpr double kSendScales = 4.0;
  static constexpr double kSendPayload = 5.0;
  static constexpr double kDeliver = 6.0;
  static constexpr double kPlaces = 8.0;

  /// Pace of a step whose transfers have all arrived.
  static constexpr double kNoTransfers = 1.0 / 1024.0;

  // --- ReduceScatter: a chunk starts `steps` hops before its owner and collects a term at every hop.

  void reduce_scatter() {
    for (std::size_t stage = 0; stage < axes_.size(); ++stage) {
      enter(Phase::reduce_scatter, stage);
      for (std::uint32_t step = 0; step < longest(); ++step) {
        begin_step();
        for_each_minishard([&](std::uint32_t minishard) { send_sums(minishard, step); });
        end_step();
      }
      const bool last = stage + 1 == axes_.size();
      if (last && options_.collective != Collective::reduce_scatter) return;
      pace_ = kNoTransfers;
      for_each_minishard([&](std::uint32_t minishard) { finish_sums(minishard, last); });
      end_step();
      pace_ = 1.0;
    }
  }

  void send_sums(std::uint32_t minishard, std::uint32_t step) {
    std::vector<Path> paths;
    std::vector<Outgoing> outgoing;
    for (const Direction direction : directions_with(step + 1)) {
      const Tile tile = tile_of(minishard, offset_by(direction, steps(direction) - step));
      paths.push_back({direction, tile});
      outgoing.push_back({tile, {direction}});
    }
    if (step == 0) paths.clear();  // a chunk's first chip sends its own values
    const bool scales_found = step > 0 && format(Phase::reduce_scatter).scaled;
    sum_and_send(paths, Phase::reduce_scatter, outgoing, scales_found);
  }

  /// The last arrivals of a stage.
  void finish_sums(std::uint32_t minishard, bool store) {
    std::vector<Path> paths;
    for (const Direction direction : directions_with(1))
      paths.push_back({direction, tile_of(minishard, 0)});
    const std::vector<Transfer> arrivals = await_scales(paths);
    writer_.for_each_microshard(paths.front().tile, [&](std::uint32_t micro) {
      due(minishard, kSum, micro);
      sum(paths, arrivals, micro, false);
      if (store)
        writer_.emit({.op = Op::store,
                      .phase = Phase::reduce_scatter,
                      .operand = carried(),
                      .tile = at(paths.front().tile, micro)});
    });
  }

  // --- AllGather: the owner's encoded bytes travel verbatim, so that all ranks decode the same.

  void all_gather() {
    if (options_.collective == Collective::all_gather)
      enter(Phase::all_gather, axes_.size() - 1);
    else
      phase_ = Phase::all_gather;  // the turn still waits for the ReduceScatter's last transfers
    begin_step();
    for_each_minishard([&](std::uint32_t minishard) { turn(minishard); });
    end_step();
    for (std::size_t stage = axes_.size(); stage-- > 0;) {
      const std::uint32_t last = longest();
      for (std::uint32_t step = 1; step <= last; ++step) {
        begin_step();
        for_each_minishard([&](std::uint32_t minishard) { pass_on(minishard, step); });
        if (turns(step))
          enter(Phase::all_gather, stage - 1);  // its larger chunks are under way now
        end_step();
      }
    }
  }

  /// The end of the ReduceScatter and the start of the AllGather, at a shard's owner.
  void turn(std::uint32_t minishard) {
    const bool sums = options_.collective == Collective::all_reduce;
    const Tile tile = tile_of(minishard, 0);
    std::vector<Path> paths;
    Outgoing outgoing{tile, {}};
    for (const Direction direction : directions_with(1)) {
      if (sums) paths.push_back({direction, tile});
      outgoing.directions.push_back(direction);
    }
    const bool scales_found =
        sums && numerics::same_groups(format(Phase::reduce_scatter), format(Phase::all_gather));
    sum_and_send(paths, Phase::all_gather, {outgoing}, scales_found);
    keep_own(minishard, outgoing.directions.front());
    writer_.for_each_microshard(tile, [&](std::uint32_t micro) {
      due(minishard, kDeliver, micro);
      writer_.deliver(at(tile, micro), own_[minishard].payload[micro]);
    });
  }

  /// What the turn has just sent.
  void keep_own(std::uint32_t minishard, Direction direction) {
    const Transfer& sent = transfer(direction, minishard);
    OwnBuffers& own = own_[minishard];
    own.payload.clear();
    for (const MessageId message : sent.payload) own.payload.push_back(buffer_of(message));
    if (sent.scales) own.scales = buffer_of(*sent.scales);
  }

  void pass_on(std::uint32_t minishard, std::uint32_t step) {
    std::vector<Path> paths;
    for (const Direction direction : directions_with(step))
      paths.push_back({direction, tile_of(minishard, offset_by(opposite(direction), step), 0)});
    const bool any_goes_on = turns(step) || std::ranges::any_of(paths, [&](const Path& path) {
                               return step < steps(path.direction);
                             });
    if (format(Phase::all_gather).scaled) {
      if (any_goes_on) barrier(minishard, paths.front().tile);
      due(minishard, kSendScales);
      for (const Path& path : paths) pass_on_scales(path, step);
      if (turns(step)) send_gathered_scales(minishard);
    }
    writer_.for_each_microshard(paths.front().tile, [&](std::uint32_t micro) {
      due(minishard, kSendPayload, micro, kPlaces - kSendPayload);
      for (const Path& path : paths) pass_on_payload(path, step, micro);
      if (turns(step)) send_gathered_payload(minishard, micro);
    });
  }

  /// After the last step along one axis, what was gathered goes on along the next.
  bool turns(std::uint32_t step) const { return step == longest() && stage_ > 0; }

  void pass_on_scales(const Path& path, std::uint32_t step) {
    std::optional<MessageId>& scales = arriving(path).scales;
    writer_.wait(*scales);
    if (step < steps(path.direction)) scales = forward(*scales, path.direction);
  }

  void pass_on_payload(const Path& path, std::uint32_t step, std::uint32_t micro) {
    MessageId& message = arriving(path).payload[micro];
    const BufferId payload = buffer_of(message);
    const Origin origin = writer_.program().received(writer_.program().messages[message]);
    writer_.wait(message);
    if (step < steps(path.direction)) message = forward(message, path.direction);
    writer_.deliver(at(path.tile, micro), payload, origin);
  }

  void send_gathered_scales(std::uint32_t minishard) {
    for_each_next([&](Direction direction) {
      next_[index(direction)][minishard].scales = send_gathered(own_[minishard].scales, direction);
    });
  }

  void send_gathered_payload(std::uint32_t minishard, std::uint32_t micro) {
    for_each_next([&](Direction direction) {
      next_[index(direction)][minishard].payload.push_back(
          send_gathered(own_[minishard].payload[micro], direction));
    });
  }

  /// Calls `visit` with the directions of the stage that follows this one in the AllGather.
  template <typename Visit>
  void for_each_next(Visit visit) {
    for (const Direction direction : directions_)
      if (steps(direction, stage_ - 1) > 0) visit(direction);
  }

  /// Every rank's own buffer and those gathered beside it, along the axis of the next stage.
  MessageId send_gathered(BufferId own, Direction direction) {
    const Origin origin{.offset = 0, .gathered = later_axes(stage_ - 1)};
    return send(own, direction, channel(direction, stage_ - 1), origin);
  }

  // --- Summing, encoding and sending

  /// Adds what arrives on `paths` to the local values, and sends the sums on in the format of `phase`.
  /// Each microshard leaves as soon as it can: one with scales has to wait until those of its whole
  /// minishard are known, which are sent first.
  void sum_and_send(const std::vector<Path>& paths, Phase phase,
                    const std::vector<Outgoing>& outgoing, bool scales_found) {
    const Tile& first = outgoing.front().tile;
    const std::uint32_t minishard = first.minishard;
    const Operand operand = paths.empty() ? brought() : carried();
    const std::vector<Transfer> arrivals = await_scales(paths);
    for (const Outgoing& one : outgoing)
      for (const Direction direction : one.directions) transfer(direction, minishard) = {};

    std::vector<BufferId> scales(outgoing.size());
    const bool scaled = format(phase).scaled;
    if (scaled) {
      writer_.for_each_microshard(first, [&](std::uint32_t micro) {
        due(minishard, kSum, micro);
        sum(paths, arrivals, micro, scales_found);
      });
      if (!scales_found) find_scales(phase, outgoing, operand);
      barrier(minishard, first);
      due(minishard, kSendScales);
      for (std::size_t i = 0; i < outgoing.size(); ++i)
        scales[i] = encode_and_send_scales(phase, outgoing[i]);
    }
    writer_.for_each_microshard(first, [&](std::uint32_t micro) {
      if (!scaled) {
        due(minishard, kSum, micro, kDeliver - kSum);
        sum(paths, arrivals, micro, false);
        due(minishard, kSum, micro + 0.5, kDeliver - kSum);
      } else {
        due(minishard, kSendPayload, micro);
      }
      for (std::size_t i = 0; i < outgoing.size(); ++i)
        encode_and_send_payload(phase, outgoing[i], micro, operand, scales[i]);
    });
  }

  std::vector<Transfer> await_scales(const std::vector<Path>& paths) {
    std::vector<Transfer> arrivals;
    for (const Path& path : paths) {
      due(path.tile.minishard, kArrival);
      arrivals.push_back(arriving(path));
      if (arrivals.back().scales) writer_.wait(*arrivals.back().scales);
    }
    return arrivals;
  }

  /// Adds one microshard of every path to the local values. Where two paths end in one tile, the second
  /// finds the first one's sums there.
  void sum(const std::vector<Path>& paths, const std::vector<Transfer>& arrivals,
           std::uint32_t micro, bool finds_scales) {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const bool again = i > 0 && paths[i - 1].tile == paths[i].tile;
      const bool last = i + 1 == paths.size() || paths[i + 1].tile != paths[i].tile;
      const MessageId message = arrivals[i].payload[micro];
      writer_.wait(message);
      writer_.emit({.op = format(Phase::reduce_scatter).scaled ? Op::accumulate : Op::add,
                    .phase = Phase::reduce_scatter,
                    .operand = again ? carried() : brought(),
                    .finds_scales = finds_scales && last,
                    .tile = at(paths[i].tile, micro),
                    .buffer = buffer_of(message),
                    .origin = writer_.program().received(writer_.program().messages[message])});
    }
  }

  void find_scales(Phase phase, const std::vector<Outgoing>& outgoing, Operand operand) {
    const Tile& first = outgoing.front().tile;
    writer_.for_each_microshard(first, [&](std::uint32_t micro) {
      due(first.minishard, kFindScales, micro);
      for (const Outgoing& one : outgoing)
        writer_.emit({.op = Op::find_scales,
                      .phase = phase,
                      .operand = operand,
                      .tile = at(one.tile, micro)});
    });
  }

  BufferId encode_and_send_scales(Phase phase, const Outgoing& outgoing) {
    const BufferId scales = writer_.encode_scales(phase, outgoing.tile);
    for (const Direction direction : outgoing.directions)
      transfer(direction, outgoing.tile.minishard).scales =
          send(scales, direction, channel(direction, stage_), {});
    return scales;
  }

  void encode_and_send_payload(Phase phase, const Outgoing& outgoing, std::uint32_t micro,
                               Operand operand, BufferId scales) {
    const Tile tile = at(outgoing.tile, micro);
    const BufferId payload = writer_.encode_payload(phase, tile, operand, scales);
    for (const Direction direction : outgoing.directions)
      transfer(direction, tile.minishard)
          .payload.push_back(send(payload, direction, channel(direction, stage_), {}));
  }

  MessageId forward(MessageId received, Direction direction) {
    const Message& message = writer_.program().messages[received];
    return send(message.buffer, direction, message.channel, writer_.program().received(message));
  }

  MessageId send(BufferId buffer, Direction direction, ChannelId channel, Origin origin) {
    const bool begins = std::exchange(step_begins_[index(direction)], false);
    return writer_.send(phase_, {buffer, channel, origin, begins});
  }

  /// Quantized minishards pass through receive buffers that are used again for the next step, so before
  /// one is sent the neighbours must have room: the one barrier per minishard of EQuARX. A plain ring
  /// receives into a place of its own in the tensor and needs none.
  void barrier(std::uint32_t minishard, const Tile& tile) {
    due(minishard, kBarrier);
    writer_.emit({.op = Op::barrier, .phase = phase_, .tile = at(tile, 0)});
  }

  // --- Where and when

  void enter(Phase phase, std::size_t stage) {
    phase_ = phase;
    stage_ = stage;
    transfers_ = std::exchange(next_, {});
    for (auto* steps : {&transfers_, &next_})
      for (auto& transfers : *steps) transfers.resize(cut().minishards);
  }

  void begin_step() { step_begins_.fill(format(phase_).scaled); }
  void end_step() { time_ += step_time(); }

  /// Due at a place, and microshard, of a minishard of this step; `places` long all microshards together.
  void due(std::uint32_t minishard, double place, double micro = 0.0, double places = 1.0) {
    const double within = (place + places * micro / cut().microshards) / kPlaces;
    writer_.due(time_ + step_time() * (minishard + within) / cut().minishards);
  }

  /// In units of an element's time on a link.
  double step_time() const {
    return pace_ * static_cast<double>(partition_.chunk_elements(segment_, stage_uncut()));
  }

  const Cut& cut() const {
    return partition_.cut(segment_, phase_ == Phase::all_gather ? 0 : stage_uncut());
  }

  template <typename Visit>
  void for_each_minishard(Visit visit) {
    for (std::uint32_t minishard = 0; minishard < transfers_[0].size(); ++minishard)
      visit(minishard);
  }

  // --- Names

  void add_channels(std::size_t stage) {
    const std::size_t axis = axes_[stage];
    const RankGrid& grid = partition_.grid();
    auto& channels = channels_.emplace_back();
    for (const Direction direction : directions_) {
      if (steps(direction, stage) == 0) continue;
      const Offset offset =
          grid.along(axis, direction == Direction::forward ? 1 : grid.length(axis) - 1);
      channels[index(direction)] = writer_.add_channel(
          offset, axes_.size() == 1 ? std::string(name(direction))
                                    : fmt::format("{} along axis {}", name(direction), axis));
    }
  }

  ChannelId channel(Direction direction, std::size_t stage) const {
    return channels_[stage][index(direction)];
  }

  std::uint32_t stage_uncut() const {
    return static_cast<std::uint32_t>(axes_.size() - 1 - stage_);
  }

  /// The axes that are taken after a stage's in the ReduceScatter, and before it in the AllGather.
  AxisSet later_axes(std::size_t stage) const {
    AxisSet axes = 0;
    for (std::size_t later = stage + 1; later < axes_.size(); ++later)
      axes |= AxisSet{1} << axes_[later];
    return axes;
  }

  Tile tile_of(std::uint32_t minishard, Offset offset) const {
    return tile_of(minishard, offset, phase_ == Phase::all_gather ? 0 : stage_uncut());
  }
  Tile tile_of(std::uint32_t minishard, Offset offset, std::uint32_t uncut) const {
    return {.shard_offset = offset, .segment = segment_, .uncut = uncut, .minishard = minishard};
  }

  /// The place some hops away along this stage's axis.
  Offset offset_by(Direction direction, std::uint32_t hops) const {
    const std::size_t axis = axes_[stage_];
    const std::uint32_t length = partition_.grid().length(axis);
    return partition_.grid().along(axis,
                                   direction == Direction::forward ? hops : length - hops % length);
  }

  std::uint32_t steps(Direction direction, std::size_t stage) const {
    if (std::ranges::find(directions_, direction) == directions_.end()) return 0;
    return ring_steps(partition_.grid().length(axes_[stage]), options_.style)[index(direction)];
  }
  std::uint32_t steps(Direction direction) const { return steps(direction, stage_); }
  std::uint32_t longest() const {
    return std::max(steps(Direction::forward), steps(Direction::backward));
  }

  /// Directions whose stage has at least `steps` steps.
  std::vector<Direction> directions_with(std::uint32_t steps) const {
    std::vector<Direction> found;
    for (const Direction direction : directions_)
      if (this->steps(direction) >= steps) found.push_back(direction);
    return found;
  }

  /// How partial sums lie in memory.
  Operand carried() const {
    return format(Phase::reduce_scatter).scaled ? Operand::sums : Operand::rounded_sums;
  }
  /// The local values at the start of a stage.
  Operand brought() const {
    const bool first = stage_ == 0 || options_.collective == Collective::all_gather;
    return first ? Operand::input : carried();
  }

  const numerics::BlockFormat& format(Phase phase) const { return writer_.program().format(phase); }
  BufferId buffer_of(MessageId message) const { return writer_.program().messages[message].buffer; }
  Transfer& transfer(Direction direction, std::uint32_t minishard) {
    return transfers_[index(direction)][minishard];
  }
  Transfer& arriving(const Path& path) { return transfer(path.direction, path.tile.minishard); }

  ProgramWriter& writer_;
  const Partition& partition_;
  const RingOptions& options_;
  std::uint32_t segment_;
  const std::vector<std::size_t>& axes_;  ///< one stage for each
  std::vector<Direction> directions_;
  std::vector<std::array<ChannelId, kDirections>> channels_;  ///< by stage
  std::vector<OwnBuffers> own_;                               ///< by minishard
  Phase phase_ = Phase::reduce_scatter;
  std::size_t stage_ = 0;
  double time_ = 0.0;  ///< when this step begins
  double pace_ = 1.0;  ///< how long it takes, as a share of the time of its transfers
  /// Whether the next message in a direction is the first of a quantized step.
  std::array<bool, kDirections> step_begins_{};
  /// What each direction's last step sent, by minishard.
  std::array<std::vector<Transfer>, kDirections> transfers_;
  /// What it sent along the axis of the next stage.
  std::array<std::vector<Transfer>, kDirections> next_;
};

/// Every order of the axes that a segment takes them in.
std::vector<std::vector<std::size_t>> axis_orders(const RankGrid& grid,
                                                  const RingOptions& options) {
  std::vector<std::size_t> order = options.axes;
  if (order.empty()) {
    order.resize(grid.axes());
    std::iota(order.begin(), order.end(), std::size_t{0});
  }
  std::vector<std::size_t> sorted = order;
  std::ranges::sort(sorted);
  for (std::size_t axis = 0; axis < std::max(sorted.size(), grid.axes()); ++axis)
    if (sorted.size() != grid.axes() || sorted[axis] != axis)
      throw std::invalid_argument(
          fmt::format("the order of axes {} does not name each of the {} axes once",
                      fmt::join(order, ", "), grid.axes()));
  std::vector<std::vector<std::size_t>> orders = {order};
  while (options.rotate_axes && orders.size() < order.size()) {
    std::rotate(order.begin(), order.begin() + 1, order.end());
    orders.push_back(order);
  }
  return orders;
}

/// Chunks that only the ReduceScatter uses are cut for its format, shards for whichever has scales.
std::vector<Cut> choose_cuts(const RankGrid& grid, std::uint64_t segment_elements,
                             const std::vector<std::size_t>& axes, const RingOptions& options) {
  std::vector<Cut> cuts(axes.size());
  std::uint64_t chunk = segment_elements;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    chunk = (chunk + grid.length(axes[i]) - 1) / grid.length(axes[i]);
    const bool shard = i + 1 == axes.size();
    const bool gather = shard && !options.reduce_scatter.scaled && options.all_gather.scaled;
    const bool only_gather = options.collective == Collective::all_gather;
    cuts[axes.size() - 1 - i] = choose_cut(
        options.cut, gather || only_gather ? options.all_gather : options.reduce_scatter, chunk);
  }
  return cuts;
}

Partition make_partition(const RankGrid& grid, std::uint64_t elements, const RingOptions& options) {
  const auto orders = axis_orders(grid, options);
  const std::uint32_t strands = ring_segments(options.style);
  const std::uint64_t segment_elements =
      elements / (orders.size() * strands) + (elements % (orders.size() * strands) != 0 ? 1 : 0);
  std::vector<Segment> segments;
  for (const auto& axes : orders)
    segments.insert(segments.end(), strands,
                    {axes, choose_cuts(grid, segment_elements, axes, options)});
  return {elements, grid, std::move(segments)};
}

}  // namespace

std::string_view name(Direction direction) {
  return direction == Direction::forward ? "forward" : "backward";
}

std::string_view name(RingStyle style) {
  return style == RingStyle::full_loop ? "full-loop" : "semi-loop";
}

std::array<std::uint32_t, kDirections> ring_steps(std::uint32_t length, RingStyle style) {
  if (style == RingStyle::full_loop) return {length - 1, length - 1};
  return {length / 2, (length + 1) / 2 - 1};
}

std::uint32_t ring_segments(RingStyle style) { return style == RingStyle::full_loop ? 2 : 1; }

Cut choose_cut(const CutRule& rule, const numerics::BlockFormat& format,
               std::uint64_t chunk_elements) {
  Cut cut;
  cut.minishards =
      rule.minishards.value_or(default_minishards(format, chunk_elements, rule.elements_per_scale));
  if (cut.minishards == 0) return cut;  // which no partition accepts
  cut.microshards =
      rule.microshards.value_or(default_microshards(format, chunk_elements, cut.minishards));
  return cut;
}

Program make_ring_program(const RankGrid& grid, std::uint64_t elements,
                          numerics::ElementFormat tensor_format, const RingOptions& options) {
  if (options.collective == Collective::all_to_all || options.collective == Collective::broadcast)
    throw std::logic_error(fmt::format("a ring program is no {}", name(options.collective)));
  ProgramWriter writer({options.collective,
                        make_partition(grid, elements, options),
                        tensor_format,
                        {options.reduce_scatter, options.all_gather},
                        {},
                        {},
                        {},
                        {}});
  std::uint32_t segment = 0;
  while (segment < writer.program().partition.segments()) {
    if (options.style == RingStyle::semi_loop) {
      writer.begin_strand();
      SegmentBuilder(writer, options, segment++, {Direction::forward, Direction::backward}).write();
      continue;
    }
    for (const Direction direction : kBothDirections) {
      writer.begin_strand();
      SegmentBuilder(writer, options, segment++, {direction}).write();
    }
  }
  return std::move(writer).finish();
}

}  // namespace equarx::collectives
