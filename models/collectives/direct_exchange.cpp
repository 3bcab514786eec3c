#include "models/collectives/direct_exchange.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace equarx::collectives {
namespace {

/// Minishards of the own chunk of every segment.
std::vector<Tile> own_minishards(const Partition& partition, std::uint32_t uncut) {
  std::vector<Tile> tiles;
  for (std::uint32_t segment = 0; segment < partition.segments(); ++segment)
    for (std::uint32_t minishard = 0; minishard < partition.cut(segment, uncut).minishards;
         ++minishard)
      tiles.push_back({.segment = segment, .uncut = uncut, .minishard = minishard});
  return tiles;
}

}  // namespace

DirectExchange::DirectExchange(ProgramWriter& writer, const ExchangeLevel& level)
    : writer_(writer),
      minishards_(writer),
      level_(level),
      length_(writer.program().grid().length(level.axis)),
      own_(own_minishards(writer.program().partition, level.uncut)) {
  for (std::uint32_t stream = 0; stream < writer.minishard_streams(); ++stream)
    for (std::uint32_t round = 1; round < length_; ++round) {
      const ChannelId channel = writer_.add_channel(offset(round), channel_name(round, stream));
      if (stream == 0 && round == 1) first_channel_ = channel;
    }
}

std::string DirectExchange::channel_name(std::uint32_t round, std::uint32_t stream) const {
  std::string name = fmt::format("to rank + {}", round);
  if (writer_.program().grid().axes() > 1) name += fmt::format(" along axis {}", level_.axis);
  if (writer_.minishard_streams() > 1) name += fmt::format(", stream {}", stream);
  return name;
}

/// Channel of a minishard that is sent in a round.
ChannelId DirectExchange::channel(const Tile& tile, std::uint32_t round) const {
  return first_channel_ + writer_.stream_of(tile) * (length_ - 1) + round - 1;
}

void DirectExchange::scatter() {
  run([&](std::size_t number, std::uint32_t round) { return scatter_one(number, round); },
      [&](const Transfer& transfer) {
        level_.codes_own ? await_and_reduce(transfer) : sum(transfer);
      });
}

void DirectExchange::exchange_shards() {
  run([&](std::size_t number, std::uint32_t round) { return scatter_one(number, round); },
      [&](const Transfer& transfer) { receive(transfer, Arrivals::result); });
  for (const Tile& tile : own_)  // not sent, hence not encoded
    minishards_.deliver(minishards_.encode(level_.all_gather, tile, level_.source), tile, {});
}

void DirectExchange::store_sums() {
  for (const Tile& tile : own_)
    writer_.for_each_microshard(tile, [&](std::uint32_t micro) {
      writer_.emit({.op = Op::store,
                    .phase = level_.reduce_scatter,
                    .operand = Operand::sums,
                    .tile = at(tile, micro)});
    });
}

void DirectExchange::gather(Operand operand, Arrivals arrivals) {
  std::vector<EncodedMinishard> own;
  const bool scales_found = operand == Operand::sums && sums_find_scales();
  for (const Tile& tile : own_)
    own.push_back(minishards_.encode(level_.all_gather, tile, operand, scales_found));
  run([&](std::size_t number, std::uint32_t round) { return send_to(round, own[number], number); },
      [&](const Transfer& transfer) { receive(transfer, arrivals); });
  for (const EncodedMinishard& minishard : own)
    writer_.for_each_microshard(minishard.tile, [&](std::uint32_t micro) {
      take(at(minishard.tile, micro), minishard.payload[micro], {}, arrivals);
    });
}

/// Sends every minishard to every other rank: one minishard to all of them before the next, so that
/// all links are busy for any number of minishards. Several transfers are in flight.
template <typename Send, typename Receive>
void DirectExchange::run(Send send, Receive receive) {
  const std::uint32_t peers = length_ - 1;
  const std::size_t count = own_.size() * peers;
  const std::size_t window = transfers_in_flight();
  std::vector<Transfer> transfers(count);
  for (std::size_t i = 0; i < count + window; ++i) {
    if (i < count) {
      const std::size_t number = level_.in_turn ? i % own_.size() : i / peers;
      const std::size_t round = level_.in_turn ? i / own_.size() : i % peers;
      transfers[i] = send(number, static_cast<std::uint32_t>(1 + round));
    }
    if (i + 1 < window) continue;
    const std::size_t arriving = i + 1 - window;
    if (arriving < count) receive(std::exchange(transfers[arriving], {}));
  }
}

/// Number of minishards: two per rank, at least kShardsUnderWay, and at most the minishards of that
/// many shards.
std::size_t DirectExchange::transfers_in_flight() const {
  if (level_.in_turn) return own_.size();
  const std::size_t buffers = kShardsUnderWay * own_.size();
  return std::clamp<std::size_t>(2 * std::size_t{length_ - 1}, kShardsUnderWay, buffers);
}

DirectExchange::Transfer DirectExchange::scatter_one(std::size_t number, std::uint32_t round) {
  Tile tile = own_[number];
  if (level_.codes_own && round == 1)
    own_terms_.push_back(minishards_.encode(level_.reduce_scatter, tile, level_.source));
  tile.shard_offset = offset(round);
  return send_to(round, minishards_.encode(level_.reduce_scatter, tile, level_.source), number);
}

DirectExchange::Transfer DirectExchange::send_to(std::uint32_t round, EncodedMinishard minishard,
                                                 std::size_t number) {
  SentMinishard sent = minishards_.send(minishard, channel(minishard.tile, round), {}, number == 0);
  return {std::move(minishard), std::move(sent), round, number};
}

void DirectExchange::sum(const Transfer& transfer) {
  const std::uint32_t round = transfer.round;
  Tile tile = transfer.minishard.tile;
  tile.shard_offset = 0;
  minishards_.wait_for_scales(transfer.sent);
  writer_.for_each_microshard(tile, [&](std::uint32_t micro) {
    minishards_.wait_for_payload(transfer.sent, micro);
    writer_.emit({.op = Op::accumulate,
                  .phase = level_.reduce_scatter,
                  .operand = round == 1 ? level_.source : Operand::sums,
                  .finds_scales = round + 1 == length_ && sums_find_scales(),
                  .tile = at(tile, micro),
                  .buffer = transfer.minishard.payload[micro],
                  .origin = sender(round)});
  });
}

/// The last term of a minishard triggers its sum.
void DirectExchange::await_and_reduce(const Transfer& transfer) {
  minishards_.wait_for_scales(transfer.sent);
  Tile tile = transfer.minishard.tile;
  tile.shard_offset = 0;
  writer_.for_each_microshard(tile, [&](std::uint32_t micro) {
    minishards_.wait_for_payload(transfer.sent, micro);
    if (transfer.round + 1 < length_) return;
    writer_.emit({.op = Op::reduce_shards,
                  .phase = level_.reduce_scatter,
                  .operand = Operand::sums,
                  .tile = at(tile, micro),
                  .buffer = own_terms_[transfer.number].payload[micro],
                  .origin = {.offset = 0, .gathered = AxisSet{1} << level_.axis}});
  });
}

void DirectExchange::receive(const Transfer& transfer, Arrivals arrivals) {
  // The receiver owns a shard of an AllToAll; the sender owns a gathered one.
  Tile tile = transfer.minishard.tile;
  tile.shard_offset = tile.shard_offset == 0 ? sender(transfer.round).offset : 0;
  minishards_.wait_for_scales(transfer.sent);
  writer_.for_each_microshard(tile, [&](std::uint32_t micro) {
    minishards_.wait_for_payload(transfer.sent, micro);
    take(at(tile, micro), transfer.minishard.payload[micro], sender(transfer.round), arrivals);
  });
}

void DirectExchange::take(const Tile& tile, BufferId payload, const Origin& origin,
                          Arrivals arrivals) {
  if (arrivals == Arrivals::result) return writer_.deliver(tile, payload, origin);
  writer_.emit({.op = Op::decode,
                .phase = level_.all_gather,
                .operand = Operand::sums,
                .tile = tile,
                .buffer = payload,
                .origin = origin});
}

/// True if the sum of the last term can also compute the scales for the AllGather.
bool DirectExchange::sums_find_scales() const {
  const Program& program = writer_.program();
  return level_.gathers_sums && !level_.codes_own &&
         numerics::same_groups(program.format(level_.reduce_scatter),
                               program.format(level_.all_gather));
}

Offset DirectExchange::offset(std::uint32_t round) const {
  return writer_.program().grid().along(level_.axis, round);
}

}  // namespace equarx::collectives
