#include "sim/link_times.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace equarx::sim {
namespace {

using collectives::Rank;

/// Common properties of the transfers between two chips.
struct Pair {
  double latency_s = 0.0;
  double rate = std::numeric_limits<double>::infinity();  ///< B/s
  bool shared = false;
  double free_s = 0.0;  ///< when the latest transfer has left
};

using Pairs = std::map<std::pair<Rank, Rank>, Pair>;

Pairs pairs_of(const Machine& machine) {
  std::map<std::pair<Rank, Rank>, const Route*> routes;
  for (Rank rank = 0; rank < machine.ranks(); ++rank)
    for (const OutPort& port : machine.out_ports[rank])
      routes.emplace(std::pair{rank, port.peer}, &port.route);
  const std::vector<std::uint32_t> users = users_of_links(machine);
  Pairs pairs;
  for (const auto& [ends, route] : routes) {
    Pair& pair = pairs[ends];
    pair.latency_s = latency_s(machine, *route);
    pair.rate = bottleneck_rate(machine, *route);
    pair.shared = std::ranges::any_of(*route, [&](LinkIndex link) { return users[link] > 1; });
  }
  return pairs;
}

}  // namespace

std::vector<LinkTime> link_times(const collectives::Program& program, const Machine& machine,
                                 const Costs& costs, std::span<const TransferEvent> transfers) {
  Pairs pairs = pairs_of(machine);
  std::vector<LinkTime> times;
  times.reserve(transfers.size());
  for (const TransferEvent& transfer : transfers) {
    Pair& pair = pairs.at({transfer.sender, transfer.receiver});
    const double end_s = transfer.arrived_s - pair.latency_s;
    const std::uint64_t bytes = program.message_bytes(transfer.message, transfer.sender);
    const double held_s = static_cast<double>(bytes) / pair.rate + costs.link_s[transfer.message];
    const double earliest_s = std::max(transfer.sent_s, pair.free_s);
    // Rounding errors must not make consecutive transfers on a FIFO overlap.
    const double start_s = pair.shared ? earliest_s : std::max(end_s - held_s, earliest_s);
    times.push_back({std::min(start_s, end_s), end_s, pair.shared});
    pair.free_s = std::max(pair.free_s, end_s);
  }
  return times;
}

}  // namespace equarx::sim
