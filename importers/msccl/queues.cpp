#include "importers/msccl/queues.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/exceptions/exceptions.hpp"

namespace equarx::schedules {
namespace {

using exceptions::UserError;

/// Sender, receiver, channel.
using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
using Ends = std::map<Key, BlockId>;

std::string at_line(const ThreadBlock& block) {
  return block.line == 0 ? "" : fmt::format(" (line {})", block.line);
}

std::string block_text(const Schedule& schedule, const BlockId& id) {
  return fmt::format("thread block {} of rank {}{}", id.block, id.rank,
                     at_line(schedule.ranks[id.rank].blocks[id.block]));
}

void check_peer(const Schedule& schedule, const BlockId& id, std::optional<std::uint32_t> peer,
                const char* what) {
  if (!peer) return;
  if (*peer >= schedule.ranks.size())
    throw UserError(block_text(schedule, id), fmt::format("{}=\"{}\" is not a rank; there are {}",
                                                          what, *peer, schedule.ranks.size()));
  if (*peer == id.rank)
    throw UserError(
        block_text(schedule, id),
        fmt::format("{}=\"{}\" is the rank itself; use cpy or re within a rank", what, *peer));
}

/// True if any step of the thread block uses its end of a queue.
/// @throws exceptions::UserError if one does, but the thread block has no such peer
bool uses(const Schedule& schedule, const BlockId& id, bool (*needs)(Op),
          std::optional<std::uint32_t> peer, const char* what) {
  const ThreadBlock& block = schedule.ranks[id.rank].blocks[id.block];
  const auto step =
      std::ranges::find_if(block.steps, [&](const Step& one) { return needs(one.op); });
  if (step == block.steps.end()) return false;
  if (!peer)
    throw UserError(describe(schedule, id.rank, id.block,
                             static_cast<std::uint32_t>(step - block.steps.begin())),
                    fmt::format("is {}, but its thread block has {}=\"-1\"; name the peer there",
                                name(step->op), what));
  return true;
}

void add_end(const Schedule& schedule, const BlockId& id, const Key& key, const char* what,
             Ends& ends) {
  const auto [found, is_new] = ends.emplace(key, id);
  if (!is_new)
    throw UserError(block_text(schedule, id),
                    fmt::format("{} the queue from rank {} to rank {} on channel {}, and so does "
                                "{}; use another channel",
                                what, std::get<0>(key), std::get<1>(key), std::get<2>(key),
                                block_text(schedule, found->second)));
}

[[noreturn]] void refuse_end(const Schedule& schedule, const Key& key, const BlockId& id,
                             const char* does, const char* other) {
  const std::uint32_t peer = id.rank == std::get<0>(key) ? std::get<1>(key) : std::get<0>(key);
  throw UserError(block_text(schedule, id),
                  fmt::format("{} rank {} on channel {}, but no thread block there {}", does, peer,
                              std::get<2>(key), other));
}

}  // namespace

Queues find_queues(const Schedule& schedule) {
  Ends senders;
  Ends receivers;
  Queues queues;
  for (std::uint32_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    const std::vector<ThreadBlock>& blocks = schedule.ranks[rank].blocks;
    queues.sent_by.emplace_back(blocks.size());
    queues.received_by.emplace_back(blocks.size());
    for (std::uint32_t number = 0; number < blocks.size(); ++number) {
      const ThreadBlock& block = blocks[number];
      const BlockId id{rank, number};
      check_peer(schedule, id, block.send_to, "send");
      check_peer(schedule, id, block.receive_from, "recv");
      if (uses(schedule, id, sends, block.send_to, "send"))
        add_end(schedule, id, {rank, *block.send_to, block.channel}, "sends to", senders);
      if (uses(schedule, id, receives, block.receive_from, "recv"))
        add_end(schedule, id, {*block.receive_from, rank, block.channel}, "receives from",
                receivers);
    }
  }
  for (const auto& [key, sender] : senders) {
    const auto receiver = receivers.find(key);
    if (receiver == receivers.end())
      refuse_end(schedule, key, sender, "sends to", "receives from this one");
    const auto id = static_cast<QueueId>(queues.all.size());
    queues.all.push_back({sender, receiver->second, std::get<2>(key)});
    queues.sent_by[sender.rank][sender.block] = id;
    queues.received_by[receiver->second.rank][receiver->second.block] = id;
  }
  for (const auto& [key, receiver] : receivers)
    if (!senders.contains(key))
      refuse_end(schedule, key, receiver, "receives from", "sends to this one");
  return queues;
}

}  // namespace equarx::schedules
