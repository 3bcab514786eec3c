#include "sim/engines/direct/wiring.hpp"

#include <algorithm>

namespace equarx::sim {
namespace {

Pair make_pair(const Machine& machine, collectives::Rank from, const OutPort& port) {
  Pair pair{.from = from,
            .to = port.peer,
            .route = &port.route,
            .latency_s = latency_s(machine, port.route),
            .rate = bottleneck_rate(machine, port.route)};
  for (const LinkFailure& failure : machine.failures)
    if (std::ranges::find(port.route, failure.link) != port.route.end())
      pair.fails_at_s = std::min(pair.fails_at_s, failure.time_s);
  return pair;
}

}  // namespace

Wiring::Wiring(const Machine& machine)
    : channels_(machine.out_ports.empty() ? 0 : machine.out_ports.front().size()),
      shares_(!machine.hbm.empty()),
      users_(machine.links.size()) {
  for (const LinkIndex link : machine.hbm) ++users_[link];  // the core of the chip
  pair_of_.reserve(machine.ranks() * channels_);
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  // Latest pair to each peer and lane, over all ranks so far.
  const std::size_t lanes = machine.lanes();
  std::vector<std::size_t> latest(machine.ranks() * lanes, kNone);
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank) {
    const std::size_t first = pairs_.size();
    for (const OutPort& port : machine.out_ports[rank]) {
      std::size_t& pair = latest[port.peer * lanes + port.lane];
      if (pair == kNone || pair < first) {
        pair = pairs_.size();
        pairs_.push_back(make_pair(machine, rank, port));
        for (const LinkIndex link : port.route) users_[link] += machine.links[link].users;
      }
      pair_of_.push_back(static_cast<std::uint32_t>(pair));
    }
  }
  for (Pair& pair : pairs_) {
    pair.shared =
        std::ranges::any_of(*pair.route, [&](LinkIndex link) { return users_[link] > 1; });
    shares_ = shares_ || pair.shared;
  }
}

}  // namespace equarx::sim
