#include "models/collectives/ring_program.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "models/collectives/validate.hpp"

namespace equarx::collectives {
namespace {

/// The messages that carry one minishard one hop: what a step sends, and the next one waits for.
struct Transfer {
  std::optional<MessageId> scales;
  std::vector<MessageId> payload;
};

class RingBuilder {
 public:
  RingBuilder(std::uint32_t ranks, std::uint64_t elements, numerics::ElementFormat tensor_format,
              const RingOptions& options)
      : steps_(ring_steps(ranks, options.style)),
        semi_loop_(options.style == RingStyle::semi_loop),
        program_{ranks,
                 Partition(elements, ranks, ring_segments(options.style), options.minishards,
                           options.microshards),
                 tensor_format,
                 {options.reduce_scatter, options.all_gather},
                 {},
                 {},
                 {}} {
    for (auto& transfers : transfers_) transfers.resize(options.minishards);
  }

  Program build() && {
    const std::uint32_t longest = std::max(steps_[0], steps_[1]);
    for (std::uint32_t step = 0; step < longest; ++step) {
      begin_step(Phase::reduce_scatter);
      for_each_minishard([&](std::uint32_t minishard) { reduce_scatter_step(minishard, step); });
    }
    begin_step(Phase::all_gather);
    for_each_minishard([&](std::uint32_t minishard) { turn(minishard); });
    for (std::uint32_t step = 1; step <= longest; ++step) {
      begin_step(Phase::all_gather);
      for_each_minishard([&](std::uint32_t minishard) { all_gather_step(minishard, step); });
    }
    validate(program_);
    return std::move(program_);
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

  template <typename Visit>
  void for_each_minishard(Visit visit) {
    for (std::uint32_t minishard = 0; minishard < program_.partition.minishards(); ++minishard)
      visit(minishard);
  }

  template <typename Visit>
  void for_each_microshard(Visit visit) {
    for (std::uint32_t micro = 0; micro < program_.partition.microshards(); ++micro) visit(micro);
  }

  // Below, microshards are the outer loop and directions the inner one, because both directions' links
  // deliver at the same time: to finish one direction first would keep the other one's link waiting.

  // --- ReduceScatter: a shard starts `steps` hops before its owner and collects a term at every hop.

  void reduce_scatter_step(std::uint32_t minishard, std::uint32_t step) {
    const bool scales_found = step > 0 && format(Phase::reduce_scatter).scaled;
    std::vector<Path> paths;
    std::vector<Outgoing> outgoing;
    for (const Direction direction : directions_with(step + 1)) {
      const Tile tile =
          tile_of(direction, minishard, offset_by(direction, steps(direction) - step));
      paths.push_back({direction, tile});
      outgoing.push_back({tile, {direction}});
    }
    if (step == 0) paths.clear();  // a shard's first chip sends its own values
    sum_and_send(paths, Phase::reduce_scatter, outgoing, scales_found);
  }

  /// The end of the ReduceScatter and the start of the AllGather, at a shard's owner.
  void turn(std::uint32_t minishard) {
    std::vector<Path> paths;
    std::vector<Outgoing> outgoing;
    for (const Direction direction : directions_with(1)) {
      const Tile tile = tile_of(direction, minishard, 0);
      paths.push_back({direction, tile});
      if (outgoing.empty() || !semi_loop_)
        outgoing.push_back({tile, {direction}});
      else
        outgoing.back().directions.push_back(direction);
    }
    const bool scales_found =
        numerics::same_groups(format(Phase::reduce_scatter), format(Phase::all_gather));
    sum_and_send(paths, Phase::all_gather, outgoing, scales_found);
    for_each_microshard([&](std::uint32_t micro) {
      for (const Outgoing& own : outgoing)
        deliver(own.tile, micro, transfer(own.directions.front(), minishard).payload[micro]);
    });
  }

  /// Adds what arrives on `paths` to the local values, and sends the sums on in the format of `phase`.
  /// Each microshard leaves as soon as it can: one with scales has to wait until those of its whole
  /// minishard are known, which are sent first.
  void sum_and_send(const std::vector<Path>& paths, Phase phase,
                    const std::vector<Outgoing>& outgoing, bool scales_found) {
    const Operand operand = paths.empty() ? Operand::input : Operand::sums;
    std::vector<Transfer> arrivals;
    for (const Path& path : paths) arrivals.push_back(arriving(path));
    for (const Transfer& arrival : arrivals)
      if (arrival.scales) wait(Phase::reduce_scatter, *arrival.scales);
    for (const Outgoing& one : outgoing)
      for (const Direction direction : one.directions) transfer(direction, one.tile.minishard) = {};

    std::vector<BufferId> scales(outgoing.size());
    if (format(phase).scaled) {
      for_each_microshard([&](std::uint32_t micro) { sum(paths, arrivals, micro, scales_found); });
      if (!scales_found) find_scales(phase, outgoing, operand);
      barrier(phase, outgoing.front().tile);
      for (std::size_t i = 0; i < outgoing.size(); ++i)
        scales[i] = encode_and_send_scales(phase, outgoing[i]);
    }
    for_each_microshard([&](std::uint32_t micro) {
      if (!format(phase).scaled) sum(paths, arrivals, micro, false);
      for (std::size_t i = 0; i < outgoing.size(); ++i)
        encode_and_send_payload(phase, outgoing[i], micro, operand, scales[i]);
    });
  }

  /// Adds one microshard of every path to the local values. Where two paths end in one tile, the second
  /// finds the first one's sums there.
  void sum(const std::vector<Path>& paths, const std::vector<Transfer>& arrivals,
           std::uint32_t micro, bool finds_scales) {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const bool again = i > 0 && paths[i - 1].tile == paths[i].tile;
      const bool last = i + 1 == paths.size() || paths[i + 1].tile != paths[i].tile;
      const MessageId message = arrivals[i].payload[micro];
      wait(Phase::reduce_scatter, message);
      emit({.op = format(Phase::reduce_scatter).scaled ? Op::accumulate : Op::add,
            .phase = Phase::reduce_scatter,
            .operand = again ? Operand::sums : Operand::input,
            .finds_scales = finds_scales && last,
            .tile = at(paths[i].tile, micro),
            .buffer = program_.messages[message].buffer});
    }
  }

  // --- AllGather: the owner's encoded bytes travel verbatim, so that all ranks decode the same.

  void all_gather_step(std::uint32_t minishard, std::uint32_t step) {
    std::vector<Path> paths;
    for (const Direction direction : directions_with(step))
      paths.push_back(
          {direction, tile_of(direction, minishard, offset_by(opposite(direction), step))});
    const bool any_goes_on =
        std::ranges::any_of(paths, [&](const Path& path) { return step < steps(path.direction); });
    if (format(Phase::all_gather).scaled && any_goes_on)
      barrier(Phase::all_gather, paths.front().tile);
    for (const Path& path : paths) {
      const auto scales = arriving(path).scales;
      if (!scales) continue;
      wait(Phase::all_gather, *scales);
      if (step < steps(path.direction)) arriving(path).scales = forward(*scales);
    }
    for_each_microshard([&](std::uint32_t micro) {
      for (const Path& path : paths) {
        const MessageId message = arriving(path).payload[micro];
        wait(Phase::all_gather, message);
        if (step < steps(path.direction)) arriving(path).payload[micro] = forward(message);
        deliver(path.tile, micro, message);
      }
    });
  }

  void deliver(const Tile& tile, std::uint32_t micro, MessageId message) {
    const numerics::BlockFormat& wire = format(Phase::all_gather);
    const bool in_place = !wire.scaled && wire.element == program_.tensor_format;
    emit({.op = in_place ? Op::deliver : Op::dequantize,
          .phase = Phase::all_gather,
          .tile = at(tile, micro),
          .buffer = program_.messages[message].buffer});
  }

  // --- Making and sending

  void begin_step(Phase phase) { step_begins_.fill(format(phase).scaled); }

  /// Quantized minishards pass through receive buffers that are used again for the next step, so before
  /// one is sent the neighbours must have room: the one barrier per minishard of EQuARX. A plain ring
  /// receives into a place of its own in the tensor and needs none.
  void barrier(Phase phase, Tile tile) {
    tile.microshard = 0;
    emit({.op = Op::barrier, .phase = phase, .tile = tile});
  }

  void find_scales(Phase phase, const std::vector<Outgoing>& outgoing, Operand operand) {
    for_each_microshard([&](std::uint32_t micro) {
      for (const Outgoing& one : outgoing)
        emit({.op = Op::find_scales,
              .phase = phase,
              .operand = operand,
              .tile = at(one.tile, micro)});
    });
  }

  BufferId encode_and_send_scales(Phase phase, const Outgoing& outgoing) {
    const BufferId scales = make_buffer(Content::scales, phase, outgoing.tile, 0);
    emit({.op = Op::encode_scales, .phase = phase, .tile = outgoing.tile, .buffer = scales});
    for (const Direction direction : outgoing.directions)
      transfer(direction, outgoing.tile.minishard).scales = send(phase, scales, direction);
    return scales;
  }

  void encode_and_send_payload(Phase phase, const Outgoing& outgoing, std::uint32_t micro,
                               Operand operand, BufferId scales) {
    const Tile tile = at(outgoing.tile, micro);
    const BufferId payload = make_buffer(Content::payload, phase, tile, scales);
    emit({.op = lies_in_wire_format(phase, operand) ? Op::lend : Op::quantize,
          .phase = phase,
          .operand = operand,
          .tile = tile,
          .buffer = payload});
    for (const Direction direction : outgoing.directions)
      transfer(direction, tile.minishard).payload.push_back(send(phase, payload, direction));
  }

  bool lies_in_wire_format(Phase phase, Operand operand) const {
    const numerics::BlockFormat& wire = format(phase);
    if (wire.scaled) return false;
    if (operand == Operand::input) return wire.element == program_.tensor_format;
    return format(Phase::reduce_scatter) ==
           wire;  // `add` left the sums in the ReduceScatter's format
  }

  BufferId make_buffer(Content content, Phase phase, const Tile& tile, BufferId scales) {
    const Partition& partition = program_.partition;
    const std::uint64_t bytes =
        content == Content::payload
            ? numerics::payload_bytes(format(phase),
                                      partition.microshard(tile.minishard, tile.microshard).size())
            : numerics::scale_count(format(phase), partition.minishard(tile.minishard).size()) *
                  numerics::scale_bytes(format(phase).scale);
    program_.buffers.push_back({content, phase, tile, bytes, scales});
    return static_cast<BufferId>(program_.buffers.size() - 1);
  }

  MessageId send(Phase phase, BufferId buffer, Direction direction) {
    bool& begins = step_begins_[static_cast<std::size_t>(direction)];
    program_.messages.push_back({buffer, direction, std::exchange(begins, false)});
    const auto message = static_cast<MessageId>(program_.messages.size() - 1);
    emit({.op = Op::send, .phase = phase, .message = message});
    return message;
  }

  MessageId forward(MessageId received) {
    const Message message = program_.messages[received];
    return send(Phase::all_gather, message.buffer, message.direction);
  }

  void wait(Phase phase, MessageId message) {
    emit({.op = Op::wait, .phase = phase, .message = message});
  }

  void emit(const Instruction& instruction) { program_.instructions.push_back(instruction); }

  // --- Names

  /// Directions whose phase has at least `steps` steps.
  std::vector<Direction> directions_with(std::uint32_t steps) const {
    std::vector<Direction> found;
    for (const Direction direction : {Direction::forward, Direction::backward})
      if (this->steps(direction) >= steps) found.push_back(direction);
    return found;
  }

  Tile tile_of(Direction direction, std::uint32_t minishard, std::uint32_t offset) const {
    const std::uint32_t segment = semi_loop_ ? 0 : static_cast<std::uint32_t>(direction);
    return {.shard_offset = offset, .segment = segment, .minishard = minishard};
  }

  static Tile at(Tile tile, std::uint32_t microshard) {
    tile.microshard = microshard;
    return tile;
  }

  std::uint32_t offset_by(Direction direction, std::uint32_t hops) const {
    const std::uint32_t ranks = program_.ranks;
    return direction == Direction::forward ? hops % ranks : (ranks - hops % ranks) % ranks;
  }

  std::uint32_t steps(Direction direction) const {
    return steps_[static_cast<std::size_t>(direction)];
  }
  const numerics::BlockFormat& format(Phase phase) const { return program_.format(phase); }
  Transfer& transfer(Direction direction, std::uint32_t minishard) {
    return transfers_[static_cast<std::size_t>(direction)][minishard];
  }
  Transfer& arriving(const Path& path) { return transfer(path.direction, path.tile.minishard); }

  std::array<std::uint32_t, kDirections> steps_;
  bool semi_loop_;
  Program program_;
  /// Whether the next message in a direction is the first of a quantized step.
  std::array<bool, kDirections> step_begins_{};
  /// What each direction's last step sent, by minishard.
  std::array<std::vector<Transfer>, kDirections> transfers_;
};

}  // namespace

std::string_view name(RingStyle style) {
  return style == RingStyle::full_loop ? "full-loop" : "semi-loop";
}

std::array<std::uint32_t, kDirections> ring_steps(std::uint32_t ranks, RingStyle style) {
  if (style == RingStyle::full_loop) return {ranks - 1, ranks - 1};
  return {ranks / 2, (ranks + 1) / 2 - 1};
}

std::uint32_t ring_segments(RingStyle style) { return style == RingStyle::full_loop ? 2 : 1; }

Program make_ring_all_reduce(std::uint32_t ranks, std::uint64_t elements,
                             numerics::ElementFormat tensor_format, const RingOptions& options) {
  if (ranks < 2) throw std::invalid_argument("a collective needs at least two chips");
  return RingBuilder(ranks, elements, tensor_format, options).build();
}

}  // namespace equarx::collectives
