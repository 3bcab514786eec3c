#include "models/collectives/server_program.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/collectives/minishard_writer.hpp"

namespace equarx::collectives {
namespace {

constexpr RankRange kServer{0, 0};
constexpr Origin kFromServer{.root = true};

class ServerBuilder {
 public:
  ServerBuilder(ProgramWriter& writer, std::uint32_t uploads)
      : writer_(writer), server_(writer, kServer), uploads_(uploads) {}

  void write() {
    const std::uint32_t ranks = writer_.program().ranks();
    for (Rank rank = 1; rank < ranks; ++rank)
      to_rank_.push_back(writer_.add_channel(rank, fmt::format("to rank + {}", rank)));
    upload();
    for (std::size_t i = 0; i < sums_.size(); ++i) sum_and_send(i);
    for (Rank rank = 1; rank < ranks; ++rank) download(rank);
  }

 private:
  static RankRange only(Rank rank) { return {rank, rank}; }

  /// Every uploading rank encodes its tensor and sends it.
  void upload() {
    const std::uint32_t minishards = writer_.program().partition.cut(0).minishards;
    sums_.resize(minishards);
    terms_.resize(minishards);
    for (std::uint32_t i = 0; i < minishards && uploads_ > 0; ++i) {
      const MinishardWriter all(writer_, {1, uploads_});
      const EncodedMinishard term =
          all.encode(Phase::reduce_scatter, {.minishard = i}, Operand::input);
      for (Rank rank = 1; rank <= uploads_; ++rank)
        terms_[i].push_back(
            {term, MinishardWriter(writer_, only(rank))
                       .send(term, to_rank_[writer_.program().ranks() - rank - 1], {}, i == 0)});
    }
  }

  /// The server adds the terms of a minishard as they arrive, and sends the sum to all.
  void sum_and_send(std::size_t number) {
    const Tile tile{.minishard = static_cast<std::uint32_t>(number)};
    const Program& program = writer_.program();
    const bool finds_scales = numerics::same_groups(program.format(Phase::reduce_scatter),
                                                    program.format(Phase::all_gather));
    for (Rank rank = 1; rank <= uploads_; ++rank) add(tile, rank, finds_scales && rank == uploads_);
    const EncodedMinishard sum =
        server_.encode(Phase::all_gather, tile, uploads_ == 0 ? Operand::input : Operand::sums,
                       finds_scales && uploads_ > 0);
    for (const ChannelId channel : to_rank_)
      sums_[number].push_back({sum, server_.send(sum, channel, kFromServer, false)});
    server_.deliver(sum, tile, kFromServer);
  }

  void add(const Tile& tile, Rank rank, bool finds_scales) {
    const Transfer& term = terms_[tile.minishard][rank - 1];
    server_.wait_for_scales(term.sent);
    writer_.for_each_microshard(tile, [&](std::uint32_t micro) {
      server_.wait_for_payload(term.sent, micro);
      writer_.emit({.op = Op::accumulate,
                    .phase = Phase::reduce_scatter,
                    .operand = rank == 1 ? Operand::input : Operand::sums,
                    .finds_scales = finds_scales,
                    .tile = at(tile, micro),
                    .buffer = term.minishard.payload[micro],
                    .origin = {.offset = rank},
                    .ranks = kServer});
    });
  }

  void download(Rank rank) {
    const MinishardWriter receiver(writer_, only(rank));
    for (const std::vector<Transfer>& transfers : sums_) {
      const Transfer& sum = transfers[rank - 1];
      receiver.wait(sum.sent);
      receiver.deliver(sum.minishard, sum.minishard.tile, kFromServer);
    }
  }

  /// A minishard and its messages to one rank.
  struct Transfer {
    EncodedMinishard minishard;
    SentMinishard sent;
  };

  ProgramWriter& writer_;
  MinishardWriter server_;
  std::uint32_t uploads_;
  std::vector<ChannelId> to_rank_;            ///< of the server, by rank, from rank 1
  std::vector<std::vector<Transfer>> terms_;  ///< by minishard and uploading rank
  std::vector<std::vector<Transfer>> sums_;   ///< by minishard and receiving rank
};

}  // namespace

Program make_server_all_reduce(std::uint32_t ranks, std::uint64_t elements,
                               numerics::ElementFormat tensor_format,
                               const ExchangeOptions& options,
                               std::optional<std::uint32_t> uploads) {
  if (ranks < 2) throw std::invalid_argument("a server needs other chips");
  if (uploads.value_or(0) >= ranks)
    throw std::invalid_argument("more chips send to the server than there are");
  const Cut cut = choose_cut(options.cut, cut_format(Collective::all_reduce, options), elements);
  ProgramWriter writer({Collective::all_reduce,
                        Partition(elements, RankGrid({ranks}), {{{}, {cut}}}),
                        tensor_format,
                        {options.reduce_scatter, options.all_gather},
                        {},
                        {},
                        {},
                        {}});
  ServerBuilder(writer, uploads.value_or(ranks - 1)).write();
  return std::move(writer).finish();
}

}  // namespace equarx::collectives
