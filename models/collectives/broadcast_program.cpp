#include "models/collectives/broadcast_program.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/collectives/program_writer.hpp"

namespace equarx::collectives {
namespace {

constexpr Phase kPhase = Phase::all_gather;
constexpr RankRange kRoot{0, 0};
constexpr Origin kFromRoot{.root = true};

ProgramWriter begin(std::uint32_t ranks, std::uint64_t elements,
                    numerics::ElementFormat tensor_format, std::uint32_t segments,
                    const BroadcastOptions& options) {
  const std::uint64_t segment = elements / segments + (elements % segments != 0 ? 1 : 0);
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

/// Ranks that a message goes to, one after the other.
struct Chain {
  ChannelId channel = 0;
  RankRange receivers;
  RankRange forwarders;  ///< receivers that pass it on; first > last if none does
};

/// One message: the root sends it, every receiver waits for it, and all but the last pass it on.
void pass_along(ProgramWriter& writer, const Chain& chain, const Message& message) {
  const MessageId id = writer.send(kPhase, message, kRoot);
  writer.wait(id, chain.receivers);
  if (chain.forwarders.first <= chain.forwarders.last)
    writer.emit({.op = Op::send, .phase = kPhase, .message = id, .ranks = chain.forwarders});
}

/// A minishard from the root along the chains.
void broadcast(ProgramWriter& writer, const Tile& tile, const std::vector<Chain>& chains) {
  BufferId scales = 0;
  if (writer.program().format(kPhase).scaled) {
    writer.find_scales(kPhase, tile, Operand::input, kRoot);
    scales = writer.encode_scales(kPhase, tile, kRoot);
    for (const Chain& chain : chains) pass_along(writer, chain, {scales, chain.channel, kFromRoot});
  }
  writer.for_each_microshard(tile, [&](std::uint32_t micro) {
    const BufferId payload =
        writer.encode_payload(kPhase, at(tile, micro), Operand::input, scales, kRoot);
    writer.deliver(at(tile, micro), payload, kFromRoot, kRoot);
    for (const Chain& chain : chains) {
      pass_along(writer, chain, {payload, chain.channel, kFromRoot});
      writer.deliver(at(tile, micro), payload, kFromRoot, chain.receivers);
    }
  });
}

/// The chain of one direction, `steps` long.
Chain ring_chain(ProgramWriter& writer, Direction direction, std::uint32_t steps) {
  const std::uint32_t ranks = writer.program().ranks();
  const std::string channel(name(direction));
  if (direction == Direction::forward)
    return {writer.add_channel(1, channel), {1, steps}, {1, steps - 1}};
  return {writer.add_channel(ranks - 1, channel),
          {ranks - steps, ranks - 1},
          {ranks - steps + 1, ranks - 1}};
}

}  // namespace

Program make_ring_broadcast(std::uint32_t ranks, std::uint64_t elements,
                            numerics::ElementFormat tensor_format,
                            const BroadcastOptions& options) {
  const std::uint32_t segments = ring_segments(options.style);
  ProgramWriter writer = begin(ranks, elements, tensor_format, segments, options);
  const auto steps = ring_steps(ranks, options.style);
  std::vector<std::vector<Chain>> chains(segments);
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    const auto way = static_cast<std::size_t>(direction);
    if (steps[way] > 0) chains[way % segments].push_back(ring_chain(writer, direction, steps[way]));
  }
  for (std::uint32_t minishard = 0; minishard < writer.program().partition.cut(0).minishards;
       ++minishard)
    for (std::uint32_t segment = 0; segment < segments; ++segment)
      broadcast(writer, Tile{.segment = segment, .minishard = minishard}, chains[segment]);
  return std::move(writer).finish();
}

Program make_direct_broadcast(std::uint32_t ranks, std::uint64_t elements,
                              numerics::ElementFormat tensor_format,
                              const BroadcastOptions& options) {
  ProgramWriter writer = begin(ranks, elements, tensor_format, 1, options);
  std::vector<Chain> chains;
  for (std::uint32_t other = 1; other < ranks; ++other)
    chains.push_back(
        {writer.add_channel(other, fmt::format("to rank + {}", other)), {other, other}, {1, 0}});
  for (std::uint32_t minishard = 0; minishard < writer.program().partition.cut(0).minishards;
       ++minishard)
    broadcast(writer, Tile{.minishard = minishard}, chains);
  return std::move(writer).finish();
}

}  // namespace equarx::collectives
