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
constexpr Phase kSums = Phase::all_gather;

/// Terms and sums on their way at once, in pieces of each: enough that ports never wait for a trip.
constexpr std::size_t kPiecesUnderWay = 4;

Cut cut_of(const ExchangeOptions& options, std::uint32_t ranks, std::uint64_t elements) {
  CutRule rule = options.cut;
  const std::uint64_t bytes = numerics::payload_bytes(options.reduce_scatter, elements);
  if (!rule.microshards)
    rule.microshards =
        static_cast<std::uint32_t>(divide_up(bytes, switch_piece_bytes(ranks, bytes)));
  return choose_cut(rule, options.reduce_scatter, elements);
}

class InSwitchWriter {
 public:
  InSwitchWriter(ProgramWriter& writer, std::uint32_t ranks)
      : writer_(writer),
        ranks_(ranks),
        terms_(writer.add_channel(1, "to the switch", Ports::senders)),
        sums_(writer.add_channel(ranks - 1, "from the switch", Ports::receivers)) {}

  void write() {
    const Cut cut = writer_.program().partition.cut(0);
    std::vector<Tile> pieces;
    for (std::uint32_t minishard = 0; minishard < cut.minishards; ++minishard)
      for (std::uint32_t micro = 0; micro < cut.microshards; ++micro)
        pieces.push_back({.minishard = minishard, .microshard = micro});
    for (std::size_t i = 0; i < pieces.size() + 2 * kPiecesUnderWay; ++i) {
      if (i < pieces.size()) send_term(pieces[i]);
      const std::size_t summed = i - kPiecesUnderWay;
      if (i >= kPiecesUnderWay && summed < pieces.size()) send_sum(summed);
      if (i >= 2 * kPiecesUnderWay) deliver(summed - kPiecesUnderWay);
    }
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
    writer_.emit({.op = Op::switch_reduce,
                  .phase = kTerms,
                  .operand = Operand::sums,
                  .tile = piece.tile,
                  .buffer = piece.term,
                  .origin = {.gathered = writer_.program().grid().all_axes()}});
    piece.sum = writer_.make_buffer(Content::payload, kSums, piece.tile);
    writer_.emit({.op = Op::lend,  // rounded in the switch
                  .phase = kSums,
                  .operand = Operand::sums,
                  .tile = piece.tile,
                  .buffer = piece.sum});
    piece.sum_sent = send(kSums, piece.sum, sums_);
  }

  void deliver(std::size_t number) {
    writer_.wait(pieces_[number].sum_sent);
    writer_.deliver(pieces_[number].tile, pieces_[number].sum);
  }

  MessageId send(Phase phase, BufferId buffer, ChannelId channel) {
    const std::uint64_t owned = writer_.program().buffers[buffer].bytes / ranks_;
    return writer_.send(phase, {.buffer = buffer, .channel = channel, .extra_bytes = owned});
  }

  ProgramWriter& writer_;
  std::uint32_t ranks_;
  ChannelId terms_;
  ChannelId sums_;
  std::vector<Piece> pieces_;
};

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
  if (ranks < kFewestRanksInSwitch)
    throw std::invalid_argument(
        fmt::format("sums in a switch need at least {} chips, and {} {} here", kFewestRanksInSwitch,
                    ranks == 1 ? "there is" : "there are", ranks));
  const RankGrid grid({ranks});
  ProgramWriter writer({Collective::all_reduce,
                        Partition(elements, grid, {{{}, {cut_of(options, ranks, elements)}}}),
                        tensor_format,
                        {options.reduce_scatter, options.all_gather},
                        {},
                        {},
                        {},
                        {}});
  InSwitchWriter(writer, ranks).write();
  return std::move(writer).finish();
}

}  // namespace equarx::collectives
