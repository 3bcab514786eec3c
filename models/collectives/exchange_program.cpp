#include "models/collectives/exchange_program.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/collectives/direct_exchange.hpp"
#include "models/collectives/divide_up.hpp"
#include "models/collectives/minishard_writer.hpp"

namespace equarx::collectives {

const numerics::BlockFormat& cut_format(Collective collective, const ExchangeOptions& options) {
  const bool gather = !options.reduce_scatter.scaled && options.all_gather.scaled;
  return gather || collective == Collective::all_gather ? options.all_gather
                                                        : options.reduce_scatter;
}

CutRule in_one_piece(CutRule rule) {
  if (!rule.microshards) rule.microshards = 1;
  return rule;
}

std::uint32_t minishard_streams(const ExchangeOptions& options, const Cut& cut) {
  if (options.rows == 0) return 1;
  return std::max(1U, std::min({options.rows_at_once, options.rows, cut.minishards}));
}

namespace {

using numerics::ElementFormat;

/// Begins a program of one segment, cut along `axes`, without instructions.
ProgramWriter begin(Collective collective, const RankGrid& grid, std::uint64_t elements,
                    ElementFormat tensor_format, std::vector<std::size_t> axes,
                    const ExchangeOptions& options, const CutRule& rule) {
  const std::uint64_t chunk = axes.empty() ? elements : divide_up(elements, grid.ranks());
  const Cut cut = choose_cut(rule, cut_format(collective, options), chunk);
  Program program{collective,
                  Partition(elements, grid, {{std::move(axes), {cut}}}),
                  tensor_format,
                  {options.reduce_scatter, options.all_gather},
                  {},
                  {},
                  {},
                  {}};
  ProgramWriter writer(std::move(program));
  writer.use_minishard_streams(minishard_streams(options, cut));
  return writer;
}

Tile minishard_of_whole(std::uint32_t minishard) { return {.minishard = minishard}; }

/// Encodes every rank's whole tensor, minishard by minishard.
std::vector<EncodedMinishard> encode_whole(ProgramWriter& writer, Operand operand) {
  std::vector<EncodedMinishard> own;
  for (std::uint32_t i = 0; i < writer.program().partition.cut(0).minishards; ++i)
    own.push_back(
        MinishardWriter(writer).encode(Phase::reduce_scatter, minishard_of_whole(i), operand));
  return own;
}

/// Sums one microshard over the own rank and all ranks that differ from it along `axes`.
void reduce(ProgramWriter& writer, const EncodedMinishard& minishard, std::uint32_t micro,
            AxisSet axes) {
  writer.emit({.op = Op::reduce,
               .phase = Phase::reduce_scatter,
               .operand = Operand::sums,
               .tile = at(minishard.tile, micro),
               .buffer = minishard.payload[micro],
               .origin = {.offset = 0, .gathered = axes}});
}

/// Exchanges the whole tensor with one partner and sums both, each microshard as it arrives.
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

/// Exchanges the whole tensor with all other ranks at once and sums all.
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

Program make_direct_exchange(Collective collective, const RankGrid& grid, std::uint64_t elements,
                             ElementFormat tensor_format, const ExchangeOptions& given) {
  if (grid.axes() != 1) throw std::logic_error("a direct exchange goes along one axis");
  ExchangeOptions options = given;
  if (collective == Collective::all_to_all) options.all_gather = {.element = tensor_format};
  CutRule rule = in_one_piece(options.cut);
  if (options.rows > 0 && !cut_format(collective, options).scaled && !rule.minishards)
    rule.minishards = options.rows;
  ProgramWriter writer = begin(collective, grid, elements, tensor_format, {0}, options, rule);
  DirectExchange exchange(writer, {.codes_own = options.order != SumOrder::arrival,
                                   .in_turn = options.in_turn,
                                   .gathers_sums = collective == Collective::all_reduce});
  switch (collective) {
    case Collective::all_reduce:
      exchange.scatter();
      exchange.gather(Operand::sums);
      break;
    case Collective::reduce_scatter:
      exchange.scatter();
      exchange.store_sums();
      break;
    case Collective::all_gather: exchange.gather(Operand::input); break;
    case Collective::all_to_all: exchange.exchange_shards(); break;
    case Collective::broadcast:
    case Collective::neighbor_average: throw std::logic_error("not an exchange of shards");
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
