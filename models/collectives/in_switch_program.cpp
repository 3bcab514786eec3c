#include "models/collectives/in_switch_program.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/collectives/divide_up.hpp"
#include "models/collectives/program_writer.hpp"

namespace equarx::collectives {
namespace {

constexpr Phase kTerms = Phase::reduce_scatter;
constexpr Phase kSumsPhase = Phase::all_gather;

/// Terms and sums on their way at once, in pieces of each: enough that ports never wait for a trip.
constexpr std::size_t kPiecesUnderWay = 4;

/// Cut of `chunk` elements of a tensor of `elements`: as many microshards as the tensor has pieces.
Cut cut_of(const ExchangeOptions& options, std::uint32_t ranks, std::uint64_t elements,
           std::uint64_t chunk) {
  CutRule rule = options.cut;
  const std::uint64_t bytes = numerics::payload_bytes(options.reduce_scatter, elements);
  if (!rule.microshards)
    rule.microshards =
        static_cast<std::uint32_t>(divide_up(bytes, switch_piece_bytes(ranks, bytes)));
  return choose_cut(rule, options.reduce_scatter, chunk);
}

void check(std::uint32_t ranks) {
  if (ranks < kFewestRanksInSwitch)
    throw std::invalid_argument(
        fmt::format("sums in a switch need at least {} chips, and {} {} here", kFewestRanksInSwitch,
                    ranks == 1 ? "there is" : "there are", ranks));
}

/// Begins a program without instructions. AllReduces have no shards.
ProgramWriter begin(Collective collective, std::uint32_t ranks, std::uint64_t elements,
                    numerics::ElementFormat tensor_format, const ExchangeOptions& options) {
  check(ranks);
  const bool whole = collective == Collective::all_reduce;
  const std::uint64_t chunk = whole ? elements : divide_up(elements, ranks);
  Segment segment{{}, {cut_of(options, ranks, elements, chunk)}};
  if (!whole) segment.axes = {0};
  return ProgramWriter({collective,
                        Partition(elements, RankGrid({ranks}), {std::move(segment)}),
                        tensor_format,
                        {options.reduce_scatter, options.all_gather},
                        {},
                        {},
                        {},
                        {}});
}

/// The parts of a tensor or of a shard, in order.
std::vector<Tile> pieces_of(const Partition& partition) {
  const Cut cut = partition.cut(0);
  std::vector<Tile> pieces;
  for (std::uint32_t minishard = 0; minishard < cut.minishards; ++minishard)
    for (std::uint32_t micro = 0; micro < cut.microshards; ++micro)
      pieces.push_back({.minishard = minishard, .microshard = micro});
  return pieces;
}

ChannelId add_terms_channel(ProgramWriter& writer) {
  return writer.add_channel(1, "to the switch", Ports::senders);
}

ChannelId add_sums_channel(ProgramWriter& writer) {
  return writer.add_channel(writer.program().ranks() - 1, "from the switch", Ports::receivers);
}

/// Calls `begin` for each of `count` pieces, and `end` for the piece that is kPiecesUnderWay older.
template <typename Begin, typename End>
void pipeline(std::size_t count, Begin begin, End end) {
  for (std::size_t i = 0; i < count + kPiecesUnderWay; ++i) {
    if (i < count) begin(i);
    if (i >= kPiecesUnderWay) end(i - kPiecesUnderWay);
  }
}

/// Adds a rank's terms of a piece: all of it, or of its own shard.
void add_in_switch(ProgramWriter& writer, const Tile& tile, BufferId term) {
  writer.emit({.op = Op::switch_reduce,
               .phase = kTerms,
               .operand = Operand::sums,
               .tile = tile,
               .buffer = term,
               .origin = {.gathered = writer.program().grid().all_axes()}});
}

class AllReduceWriter {
 public:
  explicit AllReduceWriter(ProgramWriter& writer)
      : writer_(writer), terms_(add_terms_channel(writer)), sums_(add_sums_channel(writer)) {}

  void write() {
    const std::vector<Tile> pieces = pieces_of(writer_.program().partition);
    pipeline(
        pieces.size() + kPiecesUnderWay,
        [&](std::size_t i) {
          if (i < pieces.size()) send_term(pieces[i]);
          if (i >= kPiecesUnderWay) send_sum(i - kPiecesUnderWay);
        },
        [&](std::size_t i) {
          if (i >= kPiecesUnderWay) deliver(i - kPiecesUnderWay);
        });
  }

 private:
  struct Piece {
    Tile tile;
    BufferId term = 0;
    MessageId term_sent = 0;
    BufferId sum = 0;
    MessageId sum_sent = 0;
  };

  void send_term(const Tile& tile) {
    const BufferId term = writer_.encode_payload(kTerms, tile, Operand::input, 0);
    pieces_.push_back({tile, term, send(kTerms, term, terms_)});
  }

  void send_sum(std::size_t number) {
    Piece& piece = pieces_[number];
    writer_.wait(piece.term_sent);
    add_in_switch(writer_, piece.tile, piece.term);
    piece.sum = writer_.make_buffer(Content::payload, kSumsPhase, piece.tile);
    writer_.emit({.op = Op::lend,  // rounded in the switch
                  .phase = kSumsPhase,
                  .operand = Operand::sums,
                  .tile = piece.tile,
                  .buffer = piece.sum});
    piece.sum_sent = send(kSumsPhase, piece.sum, sums_);
  }

  void deliver(std::size_t number) {
    writer_.wait(pieces_[number].sum_sent);
    writer_.deliver(pieces_[number].tile, pieces_[number].sum);
  }

  MessageId send(Phase phase, BufferId buffer, ChannelId channel) {
    const Program& program = writer_.program();
    const std::uint64_t owned = program.buffers[buffer].bytes / program.ranks();
    return writer_.send(phase, {.buffer = buffer, .channel = channel, .extra_bytes = owned});
  }

  ProgramWriter& writer_;
  ChannelId terms_;
  ChannelId sums_;
  std::vector<Piece> pieces_;
};

/// Sends the same part of all shards; returns the buffer of the own shard, and the messages.
std::pair<BufferId, std::vector<MessageId>> send_terms(ProgramWriter& writer, ChannelId channel,
                                                       Tile tile) {
  std::vector<BufferId> terms;
  for (const Offset owner : writer.program().grid().offsets(writer.program().grid().all_axes())) {
    tile.shard_offset = owner;
    terms.push_back(writer.encode_payload(kTerms, tile, Operand::input, 0));
  }
  std::vector<MessageId> messages;
  for (const BufferId term : terms)
    messages.push_back(writer.send(kTerms, {.buffer = term, .channel = channel}));
  return {terms.front(), std::move(messages)};
}

}  // namespace

std::uint64_t switch_piece_bytes(std::uint32_t ranks, std::uint64_t bytes) {
  constexpr std::uint64_t kKibi = 1024;
  constexpr std::uint64_t kChannels = 16;
  struct Smaller {
    std::uint64_t chunk;
    std::uint64_t pieces;  ///< below which the chunk is taken
  };
  constexpr std::array<Smaller, 3> kSmaller = {{{64, 64}, {32, 8}, {16, 2}}};  // KiB
  std::uint64_t piece = kChannels * ranks * 128 * kKibi;
  for (const Smaller& smaller : kSmaller)
    if (bytes < smaller.pieces * piece) piece = kChannels * ranks * smaller.chunk * kKibi;
  return piece;
}

Program make_in_switch_all_reduce(std::uint32_t ranks, std::uint64_t elements,
                                  numerics::ElementFormat tensor_format,
                                  const ExchangeOptions& options) {
  ProgramWriter writer = begin(Collective::all_reduce, ranks, elements, tensor_format, options);
  AllReduceWriter(writer).write();
  return std::move(writer).finish();
}

Program make_in_switch_reduce_scatter(std::uint32_t ranks, std::uint64_t elements,
                                      numerics::ElementFormat tensor_format,
                                      const ExchangeOptions& options) {
  ProgramWriter writer = begin(Collective::reduce_scatter, ranks, elements, tensor_format, options);
  const ChannelId channel = add_terms_channel(writer);
  const std::vector<Tile> pieces = pieces_of(writer.program().partition);
  std::vector<std::pair<BufferId, std::vector<MessageId>>> sent;
  pipeline(
      pieces.size(), [&](std::size_t i) { sent.push_back(send_terms(writer, channel, pieces[i])); },
      [&](std::size_t i) {
        for (const MessageId message : sent[i].second) writer.wait(message);
        add_in_switch(writer, pieces[i], sent[i].first);
        writer.emit(
            {.op = Op::store, .phase = kTerms, .operand = Operand::sums, .tile = pieces[i]});
      });
  return std::move(writer).finish();
}

Program make_in_switch_all_gather(std::uint32_t ranks, std::uint64_t elements,
                                  numerics::ElementFormat tensor_format,
                                  const ExchangeOptions& options) {
  ProgramWriter writer = begin(Collective::all_gather, ranks, elements, tensor_format, options);
  const ChannelId channel = add_sums_channel(writer);
  const std::vector<Tile> pieces = pieces_of(writer.program().partition);
  std::vector<MessageId> sent;
  pipeline(
      pieces.size(),
      [&](std::size_t i) {
        const BufferId own = writer.encode_payload(kSumsPhase, pieces[i], Operand::input, 0);
        const std::uint64_t others = writer.program().buffers[own].bytes * (ranks - 1);
        sent.push_back(
            writer.send(kSumsPhase, {.buffer = own, .channel = channel, .extra_bytes = others}));
      },
      [&](std::size_t i) {
        writer.wait(sent[i]);
        writer.deliver(pieces[i], writer.program().messages[sent[i]].buffer,
                       {.gathered = writer.program().grid().all_axes()});
      });
  return std::move(writer).finish();
}

}  // namespace equarx::collectives
