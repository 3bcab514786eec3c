#include "sim/direct/fair_rates.hpp"

#include <algorithm>
#include <functional>

namespace equarx::sim {

FairRates::FairRates(std::span<const double> capacities, std::span<const std::vector<Link>> routes)
    : capacities_(capacities.begin(), capacities.end()),
      users_(capacities.size()),
      first_hops_{0},
      places_(routes.size(), kAbsent),
      rates_(routes.size()),
      old_rates_(routes.size()) {
  for (const double capacity : capacities) links_.push_back({capacity, 0, 0});
  for (const std::vector<Link>& route : routes) {
    hops_.insert(hops_.end(), route.begin(), route.end());
    first_hops_.push_back(static_cast<std::uint32_t>(hops_.size()));
  }
  hop_places_.resize(hops_.size());
}

void FairRates::open(Flow flow) {
  places_[flow] = kOpen;
  open_.push_back(flow);
}

/// One more flow of a link is open, which had `rate` before.
inline void FairRates::open_at(Link number, double rate) {
  LinkState& link = links_[number];
  if (link.open++ == 0) touched_.push_back(number);
  // Sums that rates are taken from and added to again and again would drift.
  link.left = link.open == link.flows ? capacities_[number] : link.left + rate;
}

/// Takes the highest level back: its flows are open again.
void FairRates::unwind_level() {
  const Level level = levels_.back();
  levels_.pop_back();
  for (std::uint32_t i = level.first; i < filled_.size(); ++i) {
    for (const Link link : route(filled_[i])) open_at(link, level.rate);
    open(filled_[i]);
  }
  filled_.resize(level.first);
}

void FairRates::add(Flow flow) {
  for (std::uint32_t hop = first_hops_[flow]; hop < first_hops_[flow + 1]; ++hop) {
    Users& users = users_[hops_[hop]];
    hop_places_[hop] = static_cast<std::uint32_t>(users.flows.size());
    users.flows.push_back(flow);
    users.hops.push_back(hop);
    ++links_[hops_[hop]].flows;
    open_at(hops_[hop], 0.0);
  }
  rates_[flow] = 0.0;
  old_rates_[flow] = 0.0;
  open(flow);
  // A level stays as it is if none of the flow's links would be full below it.
  const auto stays = [&](const Level& level) {
    return std::ranges::all_of(route(flow), [&](Link link) {
      return links_[link].left >= level.rate * links_[link].open;
    });
  };
  while (!levels_.empty() && !stays(levels_.back())) unwind_level();
}

void FairRates::remove(Flow flow) {
  while (places_[flow] != kOpen) unwind_level();
  places_[flow] = kAbsent;
  for (std::uint32_t hop = first_hops_[flow]; hop < first_hops_[flow + 1]; ++hop) {
    LinkState& link = links_[hops_[hop]];
    --link.open;
    --link.flows;
    // The last user takes the place that is free now.
    Users& users = users_[hops_[hop]];
    const std::uint32_t place = hop_places_[hop];
    users.flows[place] = users.flows.back();
    users.hops[place] = users.hops.back();
    hop_places_[users.hops[place]] = place;
    users.flows.pop_back();
    users.hops.pop_back();
  }
}

/// Flows keep their rate: that at which `link` is full.
void FairRates::fill_link(Link link, double rate) {
  levels_.push_back({rate, static_cast<std::uint32_t>(filled_.size())});
  for (const Flow flow : users_[link].flows) {
    if (places_[flow] != kOpen) continue;
    places_[flow] = static_cast<std::uint32_t>(filled_.size());
    filled_.push_back(flow);
    rates_[flow] = rate;
    for (const Link other : route(flow)) {
      links_[other].left -= rate;
      --links_[other].open;
    }
  }
}

/// Every link with open flows.
void FairRates::collect_candidates() {
  candidates_.clear();
  for (const Link link : touched_)
    if (links_[link].open > 0) candidates_.push_back({links_[link].left / links_[link].open, link});
  touched_.clear();
  std::ranges::make_heap(candidates_, std::greater<>());
}

/// Puts the first of the heap where it belongs now that it is larger.
void FairRates::sink_first() {
  const Candidate first = candidates_.front();
  std::size_t at = 0;
  for (std::size_t below = 1; below < candidates_.size(); below = 2 * at + 1) {
    if (below + 1 < candidates_.size() && candidates_[below + 1].rate < candidates_[below].rate)
      ++below;
    if (first.rate <= candidates_[below].rate) break;
    candidates_[at] = candidates_[below];
    at = below;
  }
  candidates_[at] = first;
}

void FairRates::fill() {
  collect_candidates();
  while (!candidates_.empty()) {
    Candidate& next = candidates_.front();
    const LinkState& link = links_[next.link];
    // While others fill, a link's own level only rises: it waits for its turn.
    const double rate = link.open == 0 ? 0.0 : link.left / link.open;
    if (rate > next.rate) {
      next.rate = rate;
    } else {
      if (link.open > 0) fill_link(next.link, rate);
      next = candidates_.back();
      candidates_.pop_back();
      if (candidates_.empty()) return;
    }
    sink_first();
  }
}

std::span<const FairRates::Flow> FairRates::solve() {
  changed_.clear();
  if (open_.empty()) return changed_;
  for (const Flow flow : open_) old_rates_[flow] = rates_[flow];
  fill();
  for (const Flow flow : open_)
    if (places_[flow] != kAbsent && rates_[flow] != old_rates_[flow]) changed_.push_back(flow);
  open_.clear();
  return changed_;
}

}  // namespace equarx::sim
