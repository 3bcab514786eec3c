#include "models/collectives/broadcast_program.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/collectives/divide_up.hpp"
#include "models/collectives/program_writer.hpp"

namespace equarx::collectives {
namespace {

constexpr Phase kPhase = Phase::all_gather;
constexpr RankRange kRoot{0, 0};
constexpr Origin kFromRoot{.root = true};

ProgramWriter begin(std::uint32_t ranks, std::uint64_t elements,
                    numerics::ElementFormat tensor_format, std::uint32_t segments,
                    const BroadcastOptions& options) {
  const std::uint64_t segment = divide_up(elements, segments);
  const Cut cut = choose_cut(options.cut, options.format, segment);
  ProgramWriter writer(
      {Collective::broadcast,
       Partition(elements, RankGrid({ranks}), std::vector<Segment>(segments, Segment{{}, {cut}})),
       tensor_format,
       {options.format, options.format},
       {},
       {},
       {},
       {}});
  return writer;
}

/// The ranks that forward a segment one to the next.
struct Chain {
  ChannelId channel = 0;
  std::uint32_t segment = 0;
  RankRange receivers;
  RankRange forwarders;     ///< receivers that forward it; first > last if none
  bool descending = false;  ///< from the highest rank down

  std::uint32_t hops(Rank rank) const {
    return descending ? receivers.last - rank + 1 : rank - receivers.first + 1;
  }
};

/// A message on its way along a chain.
struct Item {
  const Chain* chain;
  MessageId message;
  BufferId buffer;
  Tile tile;
  bool payload;
  std::uint32_t position;  ///< position in the chain's pipeline, in microshards
};

/// Root: encodes every minishard and sends it along the chains of its segment.
std::vector<Item> send_all(ProgramWriter& writer, const std::vector<Chain>& chains) {
  std::vector<Item> items;
  const auto send = [&](BufferId buffer, const Tile& tile, bool payload, std::uint32_t position) {
    for (const Chain& chain : chains)
      if (chain.segment == tile.segment)
        items.push_back({&chain, writer.send(kPhase, {buffer, chain.channel, kFromRoot}, kRoot),
                         buffer, tile, payload, position});
  };
  const Partition& partition = writer.program().partition;
  const auto [minishards, microshards] = partition.cut(0);
  for (std::uint32_t minishard = 0; minishard < minishards; ++minishard)
    for (std::uint32_t segment = 0; segment < partition.segments(); ++segment) {
      const Tile tile{.segment = segment, .minishard = minishard};
      const std::uint32_t position = minishard * microshards;
      BufferId scales = 0;
      if (numerics::sends_scales(writer.program().format(kPhase))) {
        writer.find_scales(kPhase, tile, Operand::input, kRoot);
        scales = writer.encode_scales(kPhase, tile, kRoot);
        send(scales, tile, false, position);
      }
      for (std::uint32_t micro = 0; micro < microshards; ++micro) {
        const Tile part = at(tile, micro);
        const BufferId payload = writer.encode_payload(kPhase, part, Operand::input, scales, kRoot);
        writer.deliver(part, payload, kFromRoot, kRoot);
        send(payload, part, true, position + micro);
      }
    }
  return items;
}

/// Receivers of the same chains: wait for each message, forward and deliver it, in the order in
/// which messages reach the first of these ranks. Waiting first for a message of another chain,
/// which arrives from the far end, would stall this chain's links.
void receive(ProgramWriter& writer, const std::vector<Item>& items, RankRange ranks) {
  std::vector<std::pair<std::uint32_t, const Item*>> arrivals;
  for (const Item& item : items)
    if (item.chain->receivers.contains(ranks.first))
      arrivals.emplace_back(item.chain->hops(ranks.first) + item.position, &item);
  std::ranges::stable_sort(arrivals, {}, [](const auto& arrival) { return arrival.first; });
  for (const auto& [time, item] : arrivals) {
    writer.wait(item->message, ranks);
    const RankRange forwarders{std::max(ranks.first, item->chain->forwarders.first),
                               std::min(ranks.last, item->chain->forwarders.last)};
    if (forwarders.first <= forwarders.last)
      writer.emit({.op = Op::send, .phase = kPhase, .message = item->message, .ranks = forwarders});
    if (item->payload) writer.deliver(item->tile, item->buffer, kFromRoot, ranks);
  }
}

/// Returns the chain of one direction, `steps` long.
Chain ring_chain(ProgramWriter& writer, Direction direction, std::uint32_t segment,
                 std::uint32_t steps) {
  const std::uint32_t ranks = writer.program().ranks();
  const std::string channel(name(direction));
  if (direction == Direction::forward)
    return {writer.add_channel(1, channel), segment, {1, steps}, {1, steps - 1}, false};
  return {writer.add_channel(ranks - 1, channel),
          segment,
          {ranks - steps, ranks - 1},
          {ranks - steps + 1, ranks - 1},
          true};
}

}  // namespace

Program make_ring_broadcast(std::uint32_t ranks, std::uint64_t elements,
                            numerics::ElementFormat tensor_format,
                            const BroadcastOptions& options) {
  const std::uint32_t segments = ring_segments(options.style);
  ProgramWriter writer = begin(ranks, elements, tensor_format, segments, options);
  const auto steps = ring_steps(ranks, options.style);
  std::vector<Chain> chains;
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    const auto index = static_cast<std::uint32_t>(direction);
    if (steps[index] > 0)
      chains.push_back(ring_chain(writer, direction, index % segments, steps[index]));
  }
  const std::vector<Item> items = send_all(writer, chains);
  if (options.style == RingStyle::semi_loop) {
    for (const Chain& chain : chains) receive(writer, items, chain.receivers);
  } else {
    for (Rank rank = 1; rank < ranks; ++rank) receive(writer, items, {rank, rank});
  }
  return std::move(writer).finish();
}

Program make_direct_broadcast(std::uint32_t ranks, std::uint64_t elements,
                              numerics::ElementFormat tensor_format,
                              const BroadcastOptions& options) {
  ProgramWriter writer = begin(ranks, elements, tensor_format, 1, options);
  std::vector<Chain> chains;
  for (std::uint32_t other = 1; other < ranks; ++other)
    chains.push_back({writer.add_channel(other, fmt::format("to rank + {}", other)),
                      0,
                      {other, other},
                      {1, 0},
                      false});
  const std::vector<Item> items = send_all(writer, chains);
  for (const Chain& chain : chains) receive(writer, items, chain.receivers);
  return std::move(writer).finish();
}

}  // namespace equarx::collectives
