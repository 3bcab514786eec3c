#include "models/collectives/neighbor_program.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/collectives/minishard_writer.hpp"

namespace equarx::collectives {
namespace {

class NeighborBuilder {
 public:
  NeighborBuilder(ProgramWriter& writer, const RankGraph& graph) : writer_(writer), graph_(graph) {
    for (Rank rank = 0; rank < graph.ranks(); ++rank)
      for (const Rank neighbor : graph.neighbors(rank)) {
        const Offset offset = writer.program().grid().difference(neighbor, rank);
        if (!channels_.contains(offset))
          channels_[offset] = writer.add_channel(offset, fmt::format("to rank + {}", offset));
      }
  }

  void write() {
    const std::uint32_t minishards = writer_.program().partition.cut(0).minishards;
    for (std::uint32_t i = 0; i < minishards; ++i) send({.minishard = i});
    for (Rank rank = 0; rank < graph_.ranks(); ++rank)
      for (std::uint32_t i = 0; i < minishards; ++i) average(rank, {.minishard = i});
  }

 private:
  static RankRange only(Rank rank) { return {rank, rank}; }

  struct Terms {
    EncodedMinishard encoded;
    std::map<std::pair<Rank, Rank>, SentMinishard> sent;  ///< by sender and receiver
  };

  void send(const Tile& tile) {
    Terms& terms = terms_.emplace_back();
    terms.encoded = MinishardWriter(writer_).encode(Phase::reduce_scatter, tile, Operand::input);
    for (Rank rank = 0; rank < graph_.ranks(); ++rank)
      for (const Rank to : graph_.neighbors(rank))
        terms.sent[{rank, to}] =
            MinishardWriter(writer_, only(rank))
                .send(terms.encoded, channels_.at(writer_.program().grid().difference(to, rank)),
                      {}, tile.minishard == 0);
  }

  /// The mean of a rank over one minishard.
  void average(Rank rank, const Tile& tile) {
    emit(Op::scale, Operand::input, rank, tile);
    for (const Rank from : graph_.neighbors(rank)) add(rank, from, tile);
    emit(Op::store, Operand::sums, rank, tile);
  }

  void add(Rank rank, Rank from, const Tile& tile) {
    const Terms& terms = terms_[tile.minishard];
    const SentMinishard& sent = terms.sent.at({from, rank});
    const MinishardWriter receiver(writer_, only(rank));
    receiver.wait_for_scales(sent);
    writer_.for_each_microshard(tile, [&](std::uint32_t micro) {
      receiver.wait_for_payload(sent, micro);
      writer_.emit({.op = Op::accumulate,
                    .phase = Phase::reduce_scatter,
                    .operand = Operand::sums,
                    .tile = at(tile, micro),
                    .buffer = terms.encoded.payload[micro],
                    .origin = {.offset = writer_.program().grid().difference(from, rank)},
                    .ranks = only(rank)});
    });
  }

  void emit(Op op, Operand operand, Rank rank, const Tile& tile) {
    writer_.for_each_microshard(tile, [&](std::uint32_t micro) {
      writer_.emit({.op = op,
                    .phase = Phase::reduce_scatter,
                    .operand = operand,
                    .tile = at(tile, micro),
                    .ranks = only(rank)});
    });
  }

  ProgramWriter& writer_;
  const RankGraph& graph_;
  std::map<Offset, ChannelId> channels_;
  std::vector<Terms> terms_;  ///< by minishard
};

}  // namespace

Program make_neighbor_average(const RankGraph& graph, std::uint64_t elements,
                              numerics::ElementFormat tensor_format,
                              const ExchangeOptions& options) {
  const Cut cut = choose_cut(in_one_piece(options.cut),
                             cut_format(Collective::neighbor_average, options), elements);
  Program program{Collective::neighbor_average,
                  Partition(elements, RankGrid({graph.ranks()}), {{{}, {cut}}}),
                  tensor_format,
                  {options.reduce_scatter},
                  {},
                  {},
                  {},
                  {}};
  program.graph = graph;
  ProgramWriter writer(std::move(program));
  NeighborBuilder(writer, graph).write();
  return std::move(writer).finish();
}

}  // namespace equarx::collectives
