#include "models/collectives/ring_program.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
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
    for (std::uint32_t step = 0; step < longest; ++step)
      for_each_path(step, [&](Direction direction, std::uint32_t minishard) {
        reduce_scatter_step(direction, minishard, step);
      });
    for (std::uint32_t minishard = 0; minishard < program_.partition.minishards(); ++minishard)
      turn(minishard);
    for (std::uint32_t step = 1; step <= longest; ++step)
      for_each_path(step - 1, [&](Direction direction, std::uint32_t minishard) {
        all_gather_step(direction, minishard, step);
      });
    validate(program_);
    return std::move(program_);
  }

 private:
  /// Every minishard of every direction that takes this step. Directions alternate, so that the
  /// core works on one while the links of the other are busy.
  template <typename Visit>
  void for_each_path(std::uint32_t step, Visit visit) {
    for (std::uint32_t minishard = 0; minishard < program_.partition.minishards(); ++minishard)
      for (const Direction direction : {Direction::forward, Direction::backward})
        if (step < steps(direction)) visit(direction, minishard);
  }

  // --- ReduceScatter: a shard starts `steps` hops before its owner and collects a term at every
  // hop.

  void reduce_scatter_step(Direction direction, std::uint32_t minishard, std::uint32_t step) {
    const Tile tile = tile_of(direction, minishard, offset_by(direction, steps(direction) - step));
    Operand operand = Operand::input;
    bool scales_found = false;
    if (step > 0) {
      scales_found = format(Phase::reduce_scatter).scaled;
      receive_and_sum(direction, tile, scales_found, Operand::input);
      operand = Operand::sums;
    }
    encode_and_send(Phase::reduce_scatter, tile, operand, scales_found, {direction});
  }

  /// The end of the ReduceScatter and the start of the AllGather, at a shard's owner.
  void turn(std::uint32_t minishard) {
    const bool quantizes_next = format(Phase::all_gather).scaled;
    const bool summed_in_fp32 = format(Phase::reduce_scatter).scaled;
    if (semi_loop_) {
      const Tile tile = tile_of(Direction::forward, minishard, 0);
      const bool both = steps(Direction::backward) > 0;
      receive_and_sum(Direction::forward, tile, !both && quantizes_next && summed_in_fp32,
                      Operand::input);
      if (both)
        receive_and_sum(Direction::backward, tile, quantizes_next && summed_in_fp32, Operand::sums);
      gather_own(tile, {Direction::forward, Direction::backward}, summed_in_fp32);
      return;
    }
    for (const Direction direction : {Direction::forward, Direction::backward}) {
      const Tile tile = tile_of(direction, minishard, 0);
      receive_and_sum(direction, tile, quantizes_next && summed_in_fp32, Operand::input);
      gather_own(tile, {direction}, summed_in_fp32);
    }
  }

  /// Waits for what the last step sent here and adds it to the local values of `tile`.
  void receive_and_sum(Direction direction, Tile tile, bool finds_scales, Operand operand) {
    const Transfer& arriving = transfer(direction, tile.minishard);
    if (arriving.scales) wait(Phase::reduce_scatter, *arriving.scales);
    for (std::uint32_t micro = 0; micro < arriving.payload.size(); ++micro) {
      wait(Phase::reduce_scatter, arriving.payload[micro]);
      tile.microshard = micro;
      emit({.op = format(Phase::reduce_scatter).scaled ? Op::accumulate : Op::add,
            .phase = Phase::reduce_scatter,
            .operand = operand,
            .finds_scales = finds_scales,
            .tile = tile,
            .buffer = program_.messages[arriving.payload[micro]].buffer});
    }
  }

  // --- AllGather: the owner's encoded bytes travel verbatim, so that all ranks decode the same.

  void gather_own(const Tile& tile, std::vector<Direction> directions, bool summed_in_fp32) {
    const bool scales_found = format(Phase::all_gather).scaled && summed_in_fp32;
    std::erase_if(directions, [&](Direction direction) { return steps(direction) == 0; });
    encode_and_send(Phase::all_gather, tile, Operand::sums, scales_found, directions);
    const Transfer& sent = transfer(directions.front(), tile.minishard);
    for (std::uint32_t micro = 0; micro < sent.payload.size(); ++micro)
      deliver(tile, micro, sent.payload[micro]);
  }

  void all_gather_step(Direction direction, std::uint32_t minishard, std::uint32_t step) {
    const Transfer arriving = transfer(direction, minishard);
    const Tile tile = tile_of(direction, minishard, offset_by(opposite(direction), step));
    const bool goes_on = step < steps(direction);
    Transfer forwarded;
    if (arriving.scales) {
      wait(Phase::all_gather, *arriving.scales);
      if (goes_on) forwarded.scales = forward(*arriving.scales);
    }
    for (std::uint32_t micro = 0; micro < arriving.payload.size(); ++micro) {
      wait(Phase::all_gather, arriving.payload[micro]);
      if (goes_on) forwarded.payload.push_back(forward(arriving.payload[micro]));
      deliver(tile, micro, arriving.payload[micro]);
    }
    transfer(direction, minishard) = forwarded;
  }

  void deliver(Tile tile, std::uint32_t micro, MessageId message) {
    const numerics::BlockFormat& wire = format(Phase::all_gather);
    const bool in_place = !wire.scaled && wire.element == program_.tensor_format;
    tile.microshard = micro;
    emit({.op = in_place ? Op::deliver : Op::dequantize,
          .phase = Phase::all_gather,
          .tile = tile,
          .buffer = program_.messages[message].buffer});
  }

  // --- Making and sending

  /// Encodes a minishard and sends it in `directions`, the scales before the payload; each
  /// microshard leaves as soon as it is quantized.
  void encode_and_send(Phase phase, Tile tile, Operand operand, bool scales_found,
                       const std::vector<Direction>& directions) {
    for (const Direction direction : directions) transfer(direction, tile.minishard) = {};
    BufferId scales = 0;
    if (format(phase).scaled) {
      if (!scales_found) find_scales(phase, tile, operand);
      scales = make_buffer(Content::scales, phase, tile, 0);
      emit({.op = Op::encode_scales, .phase = phase, .tile = tile, .buffer = scales});
      for (const Direction direction : directions)
        transfer(direction, tile.minishard).scales = send(phase, scales, direction);
    }
    for (std::uint32_t micro = 0; micro < program_.partition.microshards(); ++micro) {
      tile.microshard = micro;
      const BufferId payload = make_buffer(Content::payload, phase, tile, scales);
      emit({.op = lies_in_wire_format(phase, operand) ? Op::lend : Op::quantize,
            .phase = phase,
            .operand = operand,
            .tile = tile,
            .buffer = payload});
      for (const Direction direction : directions)
        transfer(direction, tile.minishard).payload.push_back(send(phase, payload, direction));
    }
  }

  void find_scales(Phase phase, Tile tile, Operand operand) {
    for (std::uint32_t micro = 0; micro < program_.partition.microshards(); ++micro) {
      tile.microshard = micro;
      emit({.op = Op::find_scales, .phase = phase, .operand = operand, .tile = tile});
    }
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
    program_.messages.push_back({buffer, direction});
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

  Tile tile_of(Direction direction, std::uint32_t minishard, std::uint32_t offset) const {
    const std::uint32_t segment = semi_loop_ ? 0 : static_cast<std::uint32_t>(direction);
    return {.shard_offset = offset, .segment = segment, .minishard = minishard};
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

  std::array<std::uint32_t, kDirections> steps_;
  bool semi_loop_;
  Program program_;
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
