#include "models/collectives/node_ring_program.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/collectives/divide_up.hpp"
#include "models/collectives/hierarchical_program.hpp"
#include "models/collectives/program_writer.hpp"

namespace equarx::collectives {
namespace {

/// Writes the instructions of a rank at each of the positions that it has within its node: one in
/// every ring, whose stream has the number of the position.
class NodeRingWriter {
 public:
  explicit NodeRingWriter(ProgramWriter& writer)
      : writer_(writer),
        grid_(writer.program().grid()),
        chips_(grid_.length(kChipAxis)),
        microshards_(writer.program().partition.cut(0).microshards) {
    for (std::uint32_t position = 0; position < chips_; ++position) {
      const bool leaves = position + 1 == chips_;
      const Offset next =
          grid_.move(grid_.along(kChipAxis, 1), leaves ? grid_.along(kSliceAxis, 1) : Offset{0});
      channels_.push_back(writer.add_channel(
          next, fmt::format("from position {}{}", position, leaves ? ", to the next node" : "")));
    }
  }

  void reduce_scatter() {
    Sent sent = send_all([&](std::uint32_t position) {
      return encode(Phase::reduce_scatter, behind(position, 1), Operand::input);
    });
    for (std::uint32_t step = 1; step < grid_.ranks(); ++step) {
      const bool last = step + 1 == grid_.ranks();
      Sent next(chips_);
      for (std::uint32_t position = 0; position < chips_; ++position) {
        writer_.use_stream(position);
        add(sent[before(position)], behind(position, 1 + step));
        if (!last)
          next[position] =
              send(position, encode(Phase::reduce_scatter, behind(position, 1 + step), sums()), {});
      }
      sent = std::move(next);
    }
  }

  /// `source`: location of the own shard.
  void all_gather(Operand source) {
    Sent sent = send_all([&](std::uint32_t position) {
      const Tile own = behind(position, 0);
      own_.push_back(encode(Phase::all_gather, own, source));
      for_each_part(own, [&](const Tile& tile, std::uint32_t micro) {
        writer_.deliver(tile, own_.back()[micro]);
      });
      return own_.back();
    });
    for (std::uint32_t step = 1; step < grid_.ranks(); ++step) {
      const bool last = step + 1 == grid_.ranks();
      Sent next(chips_);
      for (std::uint32_t position = 0; position < chips_; ++position) {
        writer_.use_stream(position);
        const Tile tile = behind(position, step);
        const Parts& parts = own_[tile.minishard];
        wait(sent[before(position)]);
        if (!last) next[position] = send(position, parts, {.offset = tile.shard_offset});
        for_each_part(tile, [&](const Tile& part, std::uint32_t micro) {
          writer_.deliver(part, parts[micro], {.offset = tile.shard_offset});
        });
      }
      sent = std::move(next);
    }
  }

  void store_sums() {
    for (std::uint32_t position = 0; position < chips_; ++position) {
      writer_.use_stream(position);
      for_each_part(behind(position, 0), [&](const Tile& tile, std::uint32_t) {
        writer_.emit(
            {.op = Op::store, .phase = Phase::reduce_scatter, .operand = sums(), .tile = tile});
      });
    }
  }

  static Operand sums() { return Operand::rounded_sums; }

 private:
  using Parts = std::vector<BufferId>;               ///< by microshard
  using Sent = std::vector<std::vector<MessageId>>;  ///< by sender's position and microshard

  std::uint32_t before(std::uint32_t position) const { return (position + chips_ - 1) % chips_; }

  /// The part of a ring whose owner is `steps` ranks behind a rank at this position. A ring's parts
  /// have the number of their owner's position.
  Tile behind(std::uint32_t position, std::uint32_t steps) const {
    const std::uint32_t nodes = grid_.length(kSliceAxis);
    const std::uint32_t ranks = grid_.ranks();
    const std::uint32_t at = (position + ranks - steps % ranks) % ranks;
    const std::uint32_t there = at % chips_;
    const Offset node = grid_.along(kSliceAxis, at / chips_ % nodes);
    return {.shard_offset = grid_.move(node, grid_.along(kChipAxis, there + chips_ - position)),
            .minishard = there};
  }

  template <typename Visit>
  void for_each_part(const Tile& tile, Visit visit) const {
    for (std::uint32_t micro = 0; micro < microshards_; ++micro) visit(at(tile, micro), micro);
  }

  Parts encode(Phase phase, const Tile& tile, Operand operand) {
    Parts parts;
    for_each_part(tile, [&](const Tile& part, std::uint32_t) {
      parts.push_back(writer_.encode_payload(phase, part, operand, 0));
    });
    return parts;
  }

  std::vector<MessageId> send(std::uint32_t position, const Parts& parts, const Origin& origin) {
    std::vector<MessageId> messages;
    for (const BufferId part : parts)
      messages.push_back(
          writer_.send(writer_.program().buffers[part].phase, {part, channels_[position], origin}));
    return messages;
  }

  template <typename Encode>
  Sent send_all(Encode encode) {
    Sent sent;
    for (std::uint32_t position = 0; position < chips_; ++position) {
      writer_.use_stream(position);
      sent.push_back(send(position, encode(position), {}));
    }
    return sent;
  }

  void wait(const std::vector<MessageId>& messages) {
    for (const MessageId message : messages) writer_.wait(message);
  }

  void add(const std::vector<MessageId>& messages, const Tile& tile) {
    for_each_part(tile, [&](const Tile& part, std::uint32_t micro) {
      const Message& message = writer_.program().messages[messages[micro]];
      const Origin origin = writer_.program().received(message);
      const BufferId buffer = message.buffer;
      writer_.wait(messages[micro]);
      writer_.emit({.op = Op::add,
                    .phase = Phase::reduce_scatter,
                    .operand = Operand::input,
                    .tile = part,
                    .buffer = buffer,
                    .origin = origin});
    });
  }

  ProgramWriter& writer_;
  const RankGrid& grid_;
  std::uint32_t chips_;
  std::uint32_t microshards_;
  std::vector<ChannelId> channels_;  ///< by position of the sender
  std::vector<Parts> own_;           ///< of the own shard, by position
};

/// The parts of a shard that different rings carry are its minishards.
Cut cut_of(Collective collective, const RankGrid& grid, std::uint64_t elements,
           const ExchangeOptions& options) {
  CutRule rule = options.cut;
  rule.minishards = grid.length(kChipAxis);
  return choose_cut(rule, cut_format(collective, options), divide_up(elements, grid.ranks()));
}

}  // namespace

Program make_node_rings(Collective collective, const RankGrid& grid, std::uint64_t elements,
                        numerics::ElementFormat tensor_format, const ExchangeOptions& options) {
  if (grid.axes() != 2) throw std::logic_error("rings across nodes need nodes and their chips");
  if (options.reduce_scatter.scaled || options.all_gather.scaled)
    throw std::invalid_argument("rings across nodes cannot use formats with scales");
  ProgramWriter writer(
      {collective,
       Partition(elements, grid,
                 {{{kSliceAxis, kChipAxis}, {cut_of(collective, grid, elements, options)}}}),
       tensor_format,
       {options.reduce_scatter, options.all_gather},
       {},
       {},
       {},
       {}});
  NodeRingWriter rings(writer);
  if (collective != Collective::all_gather) rings.reduce_scatter();
  if (collective == Collective::reduce_scatter) rings.store_sums();
  if (collective == Collective::all_gather) rings.all_gather(Operand::input);
  if (collective == Collective::all_reduce) rings.all_gather(NodeRingWriter::sums());
  return std::move(writer).finish();
}

}  // namespace equarx::collectives
