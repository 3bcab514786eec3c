#include "sim/direct/fair_rates.hpp"

#include <algorithm>
#include <functional>

namespace equarx::sim {

FairRates::FairRates(std::span<const double> capacities, std::span<const std::vector<Link>> routes)
    : users_(capacities.size()),
      first_hops_{0},
      places_(routes.size(), kAbsent),
      rates_(routes.size()) {
  for (const double capacity : capacities) links_.push_back({capacity, 0});
  for (const std::vector<Link>& route : routes) {
    hops_.insert(hops_.end(), route.begin(), route.end());
    first_hops_.push_back(static_cast<std::uint32_t>(hops_.size()));
  }
  hop_places_.resize(hops_.size());
  save(0.0);
}

std::span<FairRates::LinkState> FairRates::links_of_last_saved() {
  return std::span(saved_links_).last(links_.size());
}

void FairRates::save(double rate) {
  saved_.push_back({rate, static_cast<std::uint32_t>(filled_.size())});
  saved_links_.insert(saved_links_.end(), links_.begin(), links_.end());
}

void FairRates::forget_last() {
  saved_.pop_back();
  saved_links_.resize(saved_links_.size() - links_.size());
}

/// Whether all of the flow's links, where it is open, are full only above what was last saved.
bool FairRates::stays(Flow flow) {
  const std::span<const LinkState> links = links_of_last_saved();
  return std::ranges::all_of(route(flow), [&](Link link) {
    return links[link].left >= saved_.back().rate * links[link].open;
  });
}

void FairRates::add(Flow flow) {
  for (std::uint32_t hop = first_hops_[flow]; hop < first_hops_[flow + 1]; ++hop) {
    Users& users = users_[hops_[hop]];
    hop_places_[hop] = static_cast<std::uint32_t>(users.flows.size());
    users.flows.push_back(flow);
    users.hops.push_back(hop);
    for (std::size_t at = hops_[hop]; at < saved_links_.size(); at += links_.size())
      ++saved_links_[at].open;
  }
  while (saved_.size() > 1 && !stays(flow)) forget_last();
  rates_[flow] = 0.0;
  places_[flow] = kOpen;
  stale_ = true;
}

void FairRates::remove(Flow flow) {
  if (places_[flow] != kOpen)
    while (saved_.back().filled > places_[flow]) forget_last();
  places_[flow] = kAbsent;
  for (std::uint32_t hop = first_hops_[flow]; hop < first_hops_[flow + 1]; ++hop) {
    for (std::size_t at = hops_[hop]; at < saved_links_.size(); at += links_.size())
      --saved_links_[at].open;
    // The last user takes the place that is free now.
    Users& users = users_[hops_[hop]];
    const std::uint32_t place = hop_places_[hop];
    users.flows[place] = users.flows.back();
    users.hops[place] = users.hops.back();
    hop_places_[users.hops[place]] = place;
    users.flows.pop_back();
    users.hops.pop_back();
  }
  stale_ = true;
}

/// Flows keep their rate: that at which `link` is full.
void FairRates::fill_link(Link link, double rate) {
  for (const Flow flow : users_[link].flows) {
    if (places_[flow] != kOpen) continue;
    places_[flow] = static_cast<std::uint32_t>(filled_.size());
    filled_.push_back(flow);
    if (rates_[flow] != rate) changed_.push_back(flow);
    rates_[flow] = rate;
    for (const Link other : route(flow)) {
      links_[other].left -= rate;
      --links_[other].open;
    }
  }
  // So seldom that saving costs less than filling, and takes memory as flows do and not as flows times links.
  if (filled_.size() - saved_.back().filled >= 1 + links_.size() / 4) save(rate);
}

/// Every link with open flows.
void FairRates::collect_candidates() {
  candidates_.clear();
  for (Link link = 0; link < links_.size(); ++link)
    if (links_[link].open > 0) candidates_.push_back({links_[link].left / links_[link].open, link});
  std::ranges::make_heap(candidates_, std::greater<>());
}

/// Puts the first of the heap where it belongs now that it is larger.
void FairRates::sink_first() {
  const Candidate first = candidates_.front();
  const std::size_t size = candidates_.size();
  std::size_t at = 0;
  while (2 * at + 2 < size) {
    std::size_t below = 2 * at + 1;
    below += static_cast<std::size_t>(candidates_[below + 1].rate < candidates_[below].rate);
    if (first.rate <= candidates_[below].rate) break;
    candidates_[at] = candidates_[below];
    at = below;
  }
  if (2 * at + 2 == size && candidates_[size - 1].rate < first.rate) {
    candidates_[at] = candidates_[size - 1];
    at = size - 1;
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

/// To what was last saved: flows above it are open again.
void FairRates::go_back() {
  for (std::size_t i = saved_.back().filled; i < filled_.size(); ++i)
    if (places_[filled_[i]] != kAbsent) places_[filled_[i]] = kOpen;
  filled_.resize(saved_.back().filled);
  std::ranges::copy(links_of_last_saved(), links_.begin());
}

std::span<const FairRates::Flow> FairRates::solve() {
  changed_.clear();
  if (!stale_) return changed_;
  stale_ = false;
  go_back();
  fill();
  return changed_;
}

}  // namespace equarx::sim
