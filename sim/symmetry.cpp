#include "sim/symmetry.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "models/collectives/traffic.hpp"

namespace equarx::sim {

using collectives::Rank;

Machine representative(const collectives::Program& program, const LinkSpec& link,
                       std::uint32_t dma_queue) {
  std::vector<std::uint64_t> offsets;
  for (const collectives::Channel& channel : program.channels) offsets.push_back(channel.offset);
  return representative(offsets, link, dma_queue);
}

Machine representative(std::span<const std::uint64_t> peer_of_channel, const LinkSpec& link,
                       std::uint32_t dma_queue) {
  std::vector<std::uint64_t> peers;
  for (const std::uint64_t peer : peer_of_channel)
    if (std::ranges::find(peers, peer) == peers.end()) peers.push_back(peer);

  Machine machine;
  machine.dma_queue = dma_queue;
  const auto chips = static_cast<std::uint32_t>(peers.size() + 1);
  for (Rank rank = 0; rank < chips; ++rank) {
    machine.chip_names.push_back(fmt::format("representative {}", rank));
    const auto first_link = static_cast<LinkIndex>(machine.links.size());
    for (std::size_t peer = 0; peer < peers.size(); ++peer)
      machine.links.push_back({fmt::format("link {}", first_link + peer), link.rate, link.latency});
    auto& ways = machine.ways.emplace_back();
    for (const std::uint64_t of_channel : peer_of_channel) {
      const auto peer =
          static_cast<std::uint32_t>(std::ranges::find(peers, of_channel) - peers.begin());
      ways.push_back({(rank + peer + 1) % chips, {first_link + peer}});
    }
  }
  return machine;
}

std::string asymmetry(const collectives::Program& program, const Machine& machine) {
  if (!is_uniform(program)) return "its chips do different things";
  if (!machine.failures.empty()) return "links fail";
  if (std::ranges::any_of(machine.slowdown, [](double factor) { return factor != 1.0; }))
    return "its chips are not all equally fast";
  constexpr Rank kNobody = static_cast<Rank>(-1);
  struct Pair {
    Rank from = kNobody;
    Rank to = kNobody;
    bool operator==(const Pair&) const = default;
  };
  std::vector<Pair> users(machine.links.size());
  const LinkSpec* model = nullptr;
  for (const LinkIndex link : machine.hbm)
    if (machine.links[link].rate != machine.links[machine.hbm.front()].rate)
      return "its HBMs are not all alike";
  for (Rank rank = 0; rank < machine.ranks(); ++rank)
    for (const Way& way : machine.ways[rank]) {
      if (machine.hops(way) != 1) return "messages pass over more than one link";
      const LinkSpec& link = machine.links[way.route.front()];
      if (model == nullptr) model = &link;
      if (link.rate != model->rate || link.latency != model->latency)
        return "its links are not all alike";
      Pair& user = users[way.route.front()];
      const Pair pair{rank, way.peer};
      if (user != Pair{} && user != pair) return "messages of different chips share a link";
      user = pair;
    }
  return {};
}

}  // namespace equarx::sim
