#include "sim/direct/wiring.hpp"

#include <algorithm>

namespace equarx::sim {
namespace {

Pair make_pair(const Machine& machine, collectives::Rank from, const Way& way) {
  Pair pair{.from = from,
            .to = way.peer,
            .route = &way.route,
            .latency_s = latency_s(machine, way.route),
            .rate = bottleneck_rate(machine, way.route)};
  for (const LinkFailure& failure : machine.failures)
    if (std::ranges::find(way.route, failure.link) != way.route.end())
      pair.fails_at_s = std::min(pair.fails_at_s, failure.time_s);
  return pair;
}

}  // namespace

Wiring::Wiring(const Machine& machine)
    : channels_(machine.ways.empty() ? 0 : machine.ways.front().size()),
      shares_(!machine.hbm.empty()),
      users_(machine.links.size()) {
  for (const LinkIndex link : machine.hbm) ++users_[link];  // the core
  pair_of_.reserve(machine.ranks() * channels_);
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> latest(machine.ranks(), kNone);  // pair to each peer, of any rank so far
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank) {
    const std::size_t first = pairs_.size();
    for (const Way& way : machine.ways[rank]) {
      std::size_t& pair = latest[way.peer];
      if (pair == kNone || pair < first) {
        pair = pairs_.size();
        pairs_.push_back(make_pair(machine, rank, way));
        for (const LinkIndex link : way.route) ++users_[link];
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
