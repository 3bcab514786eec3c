#include "sim/engines/direct/fair_rates.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace equarx::sim {
namespace {

/// Relative difference below which rates are equal: far above the rounding of a sum over the flows of a
/// link, so that it concerns no other links, and far below the accuracy of times.
constexpr double kEqual = 1e-13;
/// Share of a capacity that rounding may exceed.
constexpr double kRounding = 1e-12;

bool is_above(double rate, double other) { return rate > other * (1.0 + kEqual); }

}  // namespace

FairRates::FairRates(std::span<const double> capacities, std::span<const std::vector<Link>> routes)
    : users_(capacities.size()), first_hops_{0}, flows_(routes.size()) {
  for (const double capacity : capacities) links_.push_back({.capacity = capacity});
  for (const std::vector<Link>& route : routes) {
    hops_.insert(hops_.end(), route.begin(), route.end());
    first_hops_.push_back(static_cast<std::uint32_t>(hops_.size()));
  }
  hop_slots_.resize(hops_.size());
}

/// Enters a bundle among the users of its links.
void FairRates::enter(Bundle bundle) {
  flows_[bundle].rate = 0.0;
  flows_[bundle].bottleneck = kNoLink;
  for (std::uint32_t hop = first_hops_[bundle]; hop < first_hops_[bundle + 1]; ++hop) {
    Users& users = users_[hops_[hop]];
    hop_slots_[hop] = static_cast<std::uint32_t>(users.bundles.size());
    users.bundles.push_back(bundle);
    users.hops.push_back(hop);
  }
}

void FairRates::leave(Bundle bundle) {
  for (std::uint32_t hop = first_hops_[bundle]; hop < first_hops_[bundle + 1]; ++hop) {
    // Moves the last user to the freed slot.
    Users& users = users_[hops_[hop]];
    const std::uint32_t slot = hop_slots_[hop];
    users.bundles[slot] = users.bundles.back();
    users.hops[slot] = users.hops.back();
    hop_slots_[users.hops[slot]] = slot;
    users.bundles.pop_back();
    users.hops.pop_back();
  }
}

void FairRates::add(Bundle bundle) {
  if (flows_[bundle].size++ == 0) enter(bundle);
  touched_.push_back(bundle);
}

void FairRates::remove(Bundle bundle) {
  if (--flows_[bundle].size == 0) leave(bundle);
  touched_.push_back(bundle);
}

void FairRates::visit_at(Link link, double rate) {
  if (rate >= links_[link].next_visit) return;
  links_[link].next_visit = rate;
  visits_.push_back({rate, link});
  std::ranges::push_heap(visits_, std::greater<>());
}

/// Opens kept flows, whose rate concerned links then no longer count.
void FairRates::open(Bundle bundle) {
  Flows& flows = flows_[bundle];
  flows.state = State::open;
  opened_.push_back(bundle);
  for (const Link link : route(bundle)) {
    LinkState& state = links_[link];
    if (!state.concerned) continue;
    state.left += flows.rate * flows.size;
    state.open += flows.size;
    if (!std::exchange(state.lowered, true)) lowered_.push_back(link);
  }
}

/// Recomputes the level of a link in this solve().
void FairRates::concern(Link link) {
  LinkState& state = links_[link];
  if (state.concerned) return;
  double left = state.capacity;
  std::uint32_t opened = 0;
  for (const Bundle bundle : users_[link].bundles) {
    const Flows& flows = flows_[bundle];
    if (flows.state == State::kept && (flows.bottleneck == link || flows.bottleneck == kNoLink))
      open(bundle);
    if (flows.is_open())
      opened += flows.size;
    else
      left -= flows.rate * flows.size;
  }
  state.left = left;
  state.open = opened;
  state.concerned = true;
  concerned_.push_back(link);
  // By its former level, so that flows that become faster concern other links before these are settled.
  state.former = std::exchange(state.level, kUnlimited);
  visit_at(link, std::min(state.former, least_level(link)));
}

/// Lower bound of level_of(). Without open flows, a link may still slow down kept ones.
double FairRates::least_level(Link link) const {
  const LinkState& state = links_[link];
  if (state.open > 0) return state.left / state.open;
  return state.left < -kRounding * state.capacity ? -kUnlimited : kUnlimited;
}

/// Level of a concerned link if no more flows open: the rate of its open flows, and of faster ones that are
/// kept, which it would slow down. Unlimited if it is not saturated.
double FairRates::level_of(Link link) const {
  const LinkState& state = links_[link];
  double level = least_level(link);
  if (level >= state.former) return level;  // no kept flow is faster
  for (std::uint32_t before = std::numeric_limits<std::uint32_t>::max();;) {
    double left = state.left;
    std::uint32_t open = state.open;
    for (const Bundle bundle : users_[link].bundles) {
      const Flows& flows = flows_[bundle];
      if (flows.state != State::kept || !is_above(flows.rate, level)) continue;
      left += flows.rate * flows.size;
      open += flows.size;
    }
    // The level rises, and fewer flows are faster, until all that count are.
    if (open >= before || open == state.open) return level;
    before = open;
    level = left / open;
  }
}

/// Concerns all links of the open flows that may become faster than before, up to `level`.
void FairRates::spread(Link link, double level) {
  for (const Bundle bundle : users_[link].bundles) {
    Flows& flows = flows_[bundle];
    if (flows.state != State::open || !is_above(level, flows.rate)) continue;
    flows.state = State::rising;
    for (const Link other : route(bundle)) concern(other);
  }
}

/// Gives the open flows of a link, and faster ones, its level.
void FairRates::settle(Link link, double level) {
  for (const Bundle bundle : users_[link].bundles) {
    Flows& flows = flows_[bundle];
    if (flows.state == State::kept && is_above(flows.rate, level)) open(bundle);
    if (!flows.is_open()) continue;
    const bool changes = is_above(flows.rate, level) || is_above(level, flows.rate);
    flows.state = State::settled;
    flows.bottleneck = link;
    if (changes) {
      flows.rate = level;
      changed_.push_back(bundle);
    }
    links_[link].level = level;
    for (const Link other : route(bundle)) {
      LinkState& state = links_[other];
      if (state.concerned) {
        state.left -= flows.rate * flows.size;
        state.open -= flows.size;
      }
    }
    if (changes)
      for (const Link other : route(bundle)) concern(other);
  }
}

/// Settles a link if its level is `rate`, else visits it again.
void FairRates::visit(Link link, double rate) {
  const double level = level_of(link);
  if (level == kUnlimited) return;
  if (!is_above(level, rate)) return settle(link, level);
  spread(link, level);
  visit_at(link, level_of(link));
}

std::span<const FairRates::Bundle> FairRates::solve() {
  changed_.clear();
  for (const Bundle bundle : touched_)
    for (const Link link : route(bundle)) concern(link);
  touched_.clear();
  for (;;) {
    for (const Link link : lowered_) {
      links_[link].lowered = false;
      visit_at(link, least_level(link));
    }
    lowered_.clear();
    if (visits_.empty()) break;
    const Visit next = visits_.front();
    std::ranges::pop_heap(visits_, std::greater<>());
    visits_.pop_back();
    if (next.rate != links_[next.link].next_visit) continue;  // replaced by an earlier one
    links_[next.link].next_visit = kUnlimited;
    visit(next.link, next.rate);
  }
  for (const Bundle bundle : opened_) flows_[bundle].state = State::kept;
  opened_.clear();
  for (const Link link : concerned_) links_[link].concerned = false;
  concerned_.clear();
  return changed_;
}

}  // namespace equarx::sim
