#include "sim/engines/direct/fair_rates.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace equarx::sim {

FairRates::FairRates(std::span<const double> capacities, std::span<const std::vector<Link>> routes,
                     Filling filling)
    : filling_(filling),
      users_(capacities.size()),
      first_hops_{0},
      sizes_(routes.size()),
      slots_(routes.size(), kAbsent),
      rates_(routes.size()),
      is_reached_(capacities.size()) {
  for (const double capacity : capacities) links_.push_back({capacity, 0});
  for (const std::vector<Link>& route : routes) {
    hops_.insert(hops_.end(), route.begin(), route.end());
    first_hops_.push_back(static_cast<std::uint32_t>(hops_.size()));
  }
  hop_slots_.resize(hops_.size());
  save_checkpoint(0.0);
}

std::span<FairRates::LinkState> FairRates::checkpoint_links() {
  return std::span(checkpoint_states_).last(links_.size());
}

void FairRates::save_checkpoint(double rate) {
  checkpoints_.push_back({rate, static_cast<std::uint32_t>(filled_.size())});
  checkpoint_states_.insert(checkpoint_states_.end(), links_.begin(), links_.end());
}

void FairRates::pop_checkpoint() {
  checkpoints_.pop_back();
  checkpoint_states_.resize(checkpoint_states_.size() - links_.size());
}

/// True if, with the bundle open, all its links saturate only above the last checkpoint.
bool FairRates::keeps_checkpoint(Bundle bundle) {
  const std::span<const LinkState> links = checkpoint_links();
  return std::ranges::all_of(route(bundle), [&](Link link) {
    return links[link].left >= checkpoints_.back().rate * links[link].open;
  });
}

/// Enters a bundle among the users of its links.
void FairRates::enter(Bundle bundle) {
  rates_[bundle] = 0.0;
  slots_[bundle] = kOpen;
  for (std::uint32_t hop = first_hops_[bundle]; hop < first_hops_[bundle + 1]; ++hop) {
    Users& users = users_[hops_[hop]];
    hop_slots_[hop] = static_cast<std::uint32_t>(users.bundles.size());
    users.bundles.push_back(bundle);
    users.hops.push_back(hop);
  }
}

void FairRates::leave(Bundle bundle) {
  slots_[bundle] = kAbsent;
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

/// Drops the checkpoints at which a bundle was fixed.
void FairRates::reopen(Bundle bundle) {
  if (slots_[bundle] == kOpen || slots_[bundle] == kAbsent) return;
  while (checkpoints_.back().filled > slots_[bundle]) pop_checkpoint();
  slots_[bundle] = kOpen;
}

void FairRates::add(Bundle bundle) {
  reopen(bundle);
  if (sizes_[bundle]++ == 0) enter(bundle);
  for (const Link link : route(bundle)) {
    reach(link);
    for (std::size_t at = link; at < checkpoint_states_.size(); at += links_.size())
      ++checkpoint_states_[at].open;
  }
  while (checkpoints_.size() > 1 && !keeps_checkpoint(bundle)) pop_checkpoint();
  stale_ = true;
}

void FairRates::remove(Bundle bundle) {
  reopen(bundle);
  if (--sizes_[bundle] == 0) leave(bundle);
  for (const Link link : route(bundle)) {
    reach(link);
    for (std::size_t at = link; at < checkpoint_states_.size(); at += links_.size())
      --checkpoint_states_[at].open;
  }
  stale_ = true;
}

/// Fixes the open flows of a saturated link at `rate`.
void FairRates::fill_link(Link link, double rate) {
  for (const Bundle bundle : users_[link].bundles) {
    if (slots_[bundle] != kOpen) continue;
    slots_[bundle] = static_cast<std::uint32_t>(filled_.size());
    filled_.push_back(bundle);
    if (rates_[bundle] != rate) changed_.push_back(bundle);
    rates_[bundle] = rate;
    for (const Link other : route(bundle)) {
      links_[other].left -= rate * sizes_[bundle];
      links_[other].open -= sizes_[bundle];
    }
  }
  if (filling_ == Filling::of_reached_links) return filled_.clear();
  // Spaced so that checkpoints cost less time than filling, and memory linear in bundles, not bundles
  // times links.
  if (filled_.size() - checkpoints_.back().filled >= 1 + links_.size() / 4) save_checkpoint(rate);
}

/// Collects every link with open flows.
void FairRates::collect_candidates() {
  candidates_.clear();
  const auto collect = [&](Link link) {
    if (links_[link].open > 0) candidates_.push_back({links_[link].left / links_[link].open, link});
  };
  if (filling_ == Filling::of_reached_links)
    std::ranges::for_each(reached_, collect);
  else
    for (Link link = 0; link < links_.size(); ++link) collect(link);
  std::ranges::make_heap(candidates_, std::greater<>());
}

/// Restores the heap after its first entry grew.
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
    // The level of a link only rises while others saturate, so stale entries are updated lazily.
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

/// Returns to the last checkpoint: bundles fixed after it are open again.
void FairRates::restore_checkpoint() {
  for (std::size_t i = checkpoints_.back().filled; i < filled_.size(); ++i)
    if (slots_[filled_[i]] != kAbsent) slots_[filled_[i]] = kOpen;
  filled_.resize(checkpoints_.back().filled);
  std::ranges::copy(checkpoint_links(), links_.begin());
}

/// Notes that a change reaches a link.
void FairRates::reach(Link link) {
  if (filling_ != Filling::of_reached_links || is_reached_[link] != 0) return;
  is_reached_[link] = 1;
  reached_.push_back(link);
}

/// Empties the links that changes reach, and opens their flows.
void FairRates::reopen_reached() {
  const std::span<const LinkState> empty = checkpoint_links();
  for (std::size_t i = 0; i < reached_.size(); ++i) {
    const Link link = reached_[i];
    links_[link] = empty[link];
    for (const Bundle bundle : users_[link].bundles)
      if (std::exchange(slots_[bundle], kOpen) != kOpen)
        for (const Link other : route(bundle)) reach(other);
  }
}

std::span<const FairRates::Bundle> FairRates::solve() {
  changed_.clear();
  if (!stale_) return changed_;
  stale_ = false;
  if (filling_ == Filling::from_checkpoint) {
    restore_checkpoint();
    fill();
    return changed_;
  }
  reopen_reached();
  fill();
  for (const Link link : reached_) is_reached_[link] = 0;
  reached_.clear();
  return changed_;
}

}  // namespace equarx::sim
