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
    auto& out_ports = machine.out_ports.emplace_back();
    for (const std::uint64_t peer_id : peer_of_channel) {
      const auto peer =
          static_cast<std::uint32_t>(std::ranges::find(peers, peer_id) - peers.begin());
      out_ports.push_back({(rank + peer + 1) % chips, {first_link + peer}});
    }
  }
  return machine;
}

std::string asymmetry(const collectives::Program& program, const Machine& machine) {
  if (program.counts) return "its chips send different numbers of rows";
  if (!is_uniform(program)) return "its chips run different instructions";
  if (!machine.failures.empty()) return "links fail";
  if (std::ranges::any_of(machine.slowdown, [](double factor) { return factor != 1.0; }))
    return "its chips differ in speed";
  constexpr Rank kNoRank = static_cast<Rank>(-1);
  struct Pair {
    Rank from = kNoRank;
    Rank to = kNoRank;
    bool operator==(const Pair&) const = default;
  };
  std::vector<Pair> users(machine.links.size());
  const LinkSpec* reference = nullptr;
  for (const LinkIndex link : machine.hbm)
    if (machine.links[link].rate != machine.links[machine.hbm.front()].rate)
      return "its HBMs differ";
  for (Rank rank = 0; rank < machine.ranks(); ++rank)
    for (const OutPort& port : machine.out_ports[rank]) {
      if (machine.hops(port) != 1) return "messages cross more than one link";
      const LinkSpec& link = machine.links[port.route.front()];
      if (reference == nullptr) reference = &link;
      if (link.rate != reference->rate || link.latency != reference->latency)
        return "its links differ";
      Pair& user = users[port.route.front()];
      const Pair pair{rank, port.peer};
      if (user != Pair{} && user != pair) return "messages of different chips share a link";
      user = pair;
    }
  return {};
}

}  // namespace equarx::sim
