#include "models/collectives/exchange_program.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/collectives/divide_up.hpp"
#include "models/collectives/minishard_writer.hpp"

namespace equarx::collectives {
namespace {

using numerics::BlockFormat;
using numerics::ElementFormat;

/// The format that decides how chunks are cut: that of the phase that has scales, if one has.
const BlockFormat& cut_format(Collective collective, const ExchangeOptions& options) {
  const bool gather = !options.reduce_scatter.scaled && options.all_gather.scaled;
  return gather || collective == Collective::all_gather ? options.all_gather
                                                        : options.reduce_scatter;
}

/// A program of one segment, cut along `axes`, without instructions.
ProgramWriter begin(Collective collective, const RankGrid& grid, std::uint64_t elements,
                    ElementFormat tensor_format, std::vector<std::size_t> axes,
                    const ExchangeOptions& options, const CutRule& rule) {
  const std::uint64_t chunk = axes.empty() ? elements : divide_up(elements, grid.ranks());
  const Cut cut = choose_cut(rule, cut_format(collective, options), chunk);
  ProgramWriter writer({collective,
                        Partition(elements, grid, {{std::move(axes), {cut}}}),
                        tensor_format,
                        {options.reduce_scatter, options.all_gather},
                        {},
                        {},
                        {},
                        {}});
  return writer;
}

/// Rounds already overlap each other, so chunks are sent in one piece unless the rule says otherwise.
CutRule in_one_piece(CutRule rule) {
  if (!rule.microshards) rule.microshards = 1;
  return rule;
}

/// A minishard on its way, as both ends know it.
struct Transfer {
  EncodedMinishard minishard;
  SentMinishard sent;
  std::uint32_t round = 0;  ///< it goes to the rank so many places on
};

class DirectBuilder {
 public:
  explicit DirectBuilder(ProgramWriter& writer)
      : writer_(writer),
        minishards_(writer),
        ranks_(writer.program().ranks()),
        count_(writer.program().partition.cut(0).minishards) {
    for (std::uint32_t round = 1; round < ranks_; ++round)
      writer_.add_channel(round, fmt::format("to rank + {}", round));
  }

  /// Every rank's shards to their owners, who add them up; or, for an AllToAll, keep them.
  void scatter(bool keep) {
    const auto send = [&](std::uint32_t minishard, std::uint32_t round) {
      const Tile tile{.shard_offset = round, .minishard = minishard};
      return send_to(round, minishards_.encode(Phase::reduce_scatter, tile, Operand::input));
    };
    run(send, [&](const Transfer& transfer) { keep ? deliver(transfer) : sum(transfer); });
    if (!keep) return;
    for_each_minishard([&](const Tile& tile) {  // its own needs no journey
      minishards_.deliver(minishards_.encode(Phase::reduce_scatter, tile, Operand::input), tile,
                          {});
    });
  }

  void store_sums() {
    for_each_minishard([&](const Tile& tile) {
      writer_.for_each_microshard(tile, [&](std::uint32_t micro) {
        writer_.emit({.op = Op::store,
                      .phase = Phase::reduce_scatter,
                      .operand = Operand::sums,
                      .tile = at(tile, micro)});
      });
    });
  }

  /// Every rank's own shard, the sum or what it brought, to all others.
  void gather(Operand operand) {
    std::vector<EncodedMinishard> own;
    const bool scales_found = operand == Operand::sums && sums_find_scales();
    for_each_minishard([&](const Tile& tile) {
      own.push_back(minishards_.encode(Phase::all_gather, tile, operand, scales_found));
    });
    const auto send = [&](std::uint32_t minishard, std::uint32_t round) {
      return send_to(round, own[minishard]);
    };
    run(send, [&](const Transfer& transfer) { deliver(transfer); });
    for (const EncodedMinishard& minishard : own)
      minishards_.deliver(minishard, minishard.tile, {});
  }

 private:
  /// Every minishard to every other rank: one to all of them before the next one, so that all links are kept
  /// busy however many minishards there are. Some transfers are under way at once.
  template <typename Send, typename Receive>
  void run(Send send, Receive receive) {
    const std::uint32_t peers = ranks_ - 1;
    const std::size_t count = std::size_t{count_} * peers;
    const std::size_t window = transfers_under_way();
    std::vector<Transfer> transfers(count);
    for (std::size_t i = 0; i < count + window; ++i) {
      if (i < count)
        transfers[i] =
            send(static_cast<std::uint32_t>(i / peers), static_cast<std::uint32_t>(1 + i % peers));
      if (i + 1 < window) continue;
      const std::size_t arriving = i + 1 - window;
      if (arriving < count) receive(std::exchange(transfers[arriving], {}));
    }
  }

  /// Minishards: two to every rank, but no fewer than kShardsUnderWay, and no more than so many shards have.
  std::size_t transfers_under_way() const {
    const std::size_t buffers = std::size_t{kShardsUnderWay} * count_;
    return std::clamp<std::size_t>(2 * std::size_t{ranks_ - 1}, kShardsUnderWay, buffers);
  }

  Transfer send_to(std::uint32_t round, EncodedMinishard minishard) {
    const bool first = minishard.tile.minishard == 0;
    SentMinishard sent = minishards_.send(minishard, channel(round), {}, first);
    return {std::move(minishard), std::move(sent), round};
  }

  void sum(const Transfer& transfer) {
    const std::uint32_t round = transfer.round;
    Tile tile = transfer.minishard.tile;
    tile.shard_offset = 0;
    minishards_.wait_for_scales(transfer.sent);
    writer_.for_each_microshard(tile, [&](std::uint32_t micro) {
      minishards_.wait_for_payload(transfer.sent, micro);
      writer_.emit({.op = Op::accumulate,
                    .phase = Phase::reduce_scatter,
                    .operand = round == 1 ? Operand::input : Operand::sums,
                    .finds_scales = round + 1 == ranks_ && sums_find_scales(),
                    .tile = at(tile, micro),
                    .buffer = transfer.minishard.payload[micro],
                    .origin = sender(round)});
    });
  }

  void deliver(const Transfer& transfer) {
    // An AllToAll's shard is the receiver's own; a gathered one is its sender's.
    Tile tile = transfer.minishard.tile;
    tile.shard_offset = tile.shard_offset == 0 ? sender(transfer.round).offset : 0;
    minishards_.wait_for_scales(transfer.sent);
    writer_.for_each_microshard(tile, [&](std::uint32_t micro) {
      minishards_.wait_for_payload(transfer.sent, micro);
      writer_.deliver(at(tile, micro), transfer.minishard.payload[micro], sender(transfer.round));
    });
  }

  /// Whether the last term's sum can find the scales for the AllGather as it goes.
  bool sums_find_scales() const {
    const Program& program = writer_.program();
    return program.collective == Collective::all_reduce &&
           numerics::same_groups(program.format(Phase::reduce_scatter),
                                 program.format(Phase::all_gather));
  }

  template <typename Visit>
  void for_each_minishard(Visit visit) {
    for (std::uint32_t minishard = 0; minishard < count_; ++minishard)
      visit(Tile{.minishard = minishard});
  }

  static ChannelId channel(std::uint32_t round) { return round - 1; }
  Origin sender(std::uint32_t round) const { return {.offset = ranks_ - round}; }

  ProgramWriter& writer_;
  MinishardWriter minishards_;
  std::uint32_t ranks_;
  std::uint32_t count_;
};

Tile minishard_of_whole(std::uint32_t minishard) { return {.minishard = minishard}; }

/// Every rank's whole tensor, minishard by minishard.
std::vector<EncodedMinishard> encode_whole(ProgramWriter& writer, Operand operand) {
  std::vector<EncodedMinishard> own;
  for (std::uint32_t i = 0; i < writer.program().partition.cut(0).minishards; ++i)
    own.push_back(
        MinishardWriter(writer).encode(Phase::reduce_scatter, minishard_of_whole(i), operand));
  return own;
}

/// One microshard's terms, of the own rank and of all that differ from it along `axes`, to their sum.
void reduce(ProgramWriter& writer, const EncodedMinishard& minishard, std::uint32_t micro,
            AxisSet axes) {
  writer.emit({.op = Op::reduce,
               .phase = Phase::reduce_scatter,
               .operand = Operand::sums,
               .tile = at(minishard.tile, micro),
               .buffer = minishard.payload[micro],
               .origin = {.offset = 0, .gathered = axes}});
}

/// Everything to one partner and back, and the sum of both, each microshard as soon as it has come.
void exchange_with(ProgramWriter& writer, ChannelId partner, AxisSet axis, Operand operand) {
  const MinishardWriter minishards(writer);
  const std::vector<EncodedMinishard> own = encode_whole(writer, operand);
  std::vector<SentMinishard> sent;
  for (const EncodedMinishard& minishard : own)
    sent.push_back(minishards.send(minishard, partner, {}, sent.empty()));
  for (std::size_t i = 0; i < own.size(); ++i) {
    minishards.wait_for_scales(sent[i]);
    writer.for_each_microshard(own[i].tile, [&](std::uint32_t micro) {
      minishards.wait_for_payload(sent[i], micro);
      reduce(writer, own[i], micro, axis);
    });
  }
}

/// Everything to everybody at once, and the sum of all.
void exchange_with_all(ProgramWriter& writer, const std::vector<ChannelId>& channels) {
  const MinishardWriter minishards(writer);
  const std::vector<EncodedMinishard> own = encode_whole(writer, Operand::input);
  std::vector<std::vector<SentMinishard>> sent;  // by channel
  for (const ChannelId channel : channels) {
    auto& messages = sent.emplace_back();
    for (const EncodedMinishard& minishard : own)
      messages.push_back(minishards.send(minishard, channel, {}, messages.empty()));
  }
  for (std::size_t i = 0; i < own.size(); ++i) {
    for (const auto& from : sent) minishards.wait_for_scales(from[i]);
    writer.for_each_microshard(own[i].tile, [&](std::uint32_t micro) {
      for (const auto& from : sent) minishards.wait_for_payload(from[i], micro);
      reduce(writer, own[i], micro, writer.program().grid().all_axes());
    });
  }
}

void store_whole(ProgramWriter& writer) {
  for (std::uint32_t i = 0; i < writer.program().partition.cut(0).minishards; ++i)
    writer.for_each_microshard(minishard_of_whole(i), [&](std::uint32_t micro) {
      writer.emit({.op = Op::store,
                   .phase = Phase::reduce_scatter,
                   .operand = Operand::sums,
                   .tile = at(minishard_of_whole(i), micro)});
    });
}

}  // namespace

Program make_direct_exchange(Collective collective, std::uint32_t ranks, std::uint64_t elements,
                             ElementFormat tensor_format, const ExchangeOptions& options) {
  ProgramWriter writer = begin(collective, RankGrid({ranks}), elements, tensor_format, {0}, options,
                               in_one_piece(options.cut));
  DirectBuilder builder(writer);
  switch (collective) {
    case Collective::all_reduce:
      builder.scatter(false);
      builder.gather(Operand::sums);
      break;
    case Collective::reduce_scatter:
      builder.scatter(false);
      builder.store_sums();
      break;
    case Collective::all_gather: builder.gather(Operand::input); break;
    case Collective::all_to_all: builder.scatter(true); break;
    case Collective::broadcast: throw std::logic_error("a broadcast is no exchange");
  }
  return std::move(writer).finish();
}

Program make_one_shot_all_reduce(std::uint32_t ranks, std::uint64_t elements,
                                 ElementFormat tensor_format, const ExchangeOptions& options) {
  ProgramWriter writer = begin(Collective::all_reduce, RankGrid({ranks}), elements, tensor_format,
                               {}, options, in_one_piece(options.cut));
  std::vector<ChannelId> channels;
  for (std::uint32_t other = 1; other < ranks; ++other)
    channels.push_back(writer.add_channel(other, fmt::format("to rank + {}", other)));
  exchange_with_all(writer, channels);
  store_whole(writer);
  return std::move(writer).finish();
}

Program make_recursive_doubling(const RankGrid& grid, std::uint64_t elements,
                                ElementFormat tensor_format, const ExchangeOptions& options) {
  if (std::ranges::any_of(grid.lengths(), [](std::uint32_t length) { return length != 2; }))
    throw std::invalid_argument("recursive doubling needs a power of two of chips");
  ProgramWriter writer =
      begin(Collective::all_reduce, grid, elements, tensor_format, {}, options, options.cut);
  for (std::size_t axis = 0; axis < grid.axes(); ++axis) {
    const ChannelId partner = writer.add_channel(
        grid.along(axis, 1), fmt::format("to the partner of round {}", axis + 1));
    exchange_with(writer, partner, AxisSet{1} << axis, axis == 0 ? Operand::input : Operand::sums);
  }
  store_whole(writer);
  return std::move(writer).finish();
}

}  // namespace equarx::collectives
