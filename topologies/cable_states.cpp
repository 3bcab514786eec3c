#include "topologies/cable_states.hpp"

#include <algorithm>

namespace equarx::topology {

CableStates::CableStates(const CableGraph& graph, bool one_ring, std::uint64_t& budget)
    : graph_(graph),
      one_ring_(one_ring),
      budget_(budget),
      states_(graph.ends.size(), CableState::open),
      chips_(graph.chip_count()) {
  for (ChipId chip = 0; chip < graph.chip_count(); ++chip)
    chips_[chip] = {static_cast<std::uint32_t>(graph.cables_of[chip].size()), 0, chip};
}

void CableStates::undo_to(std::size_t decisions) {
  pending_.clear();
  while (decided_.size() > decisions) undo();
}

void CableStates::spend(std::uint64_t steps) { budget_ -= std::min(steps, budget_); }

bool CableStates::settle_all_chips() {
  for (ChipId chip = 0; chip < graph_.chip_count(); ++chip) {
    if (!settle(chip, CableState::out) || !propagate()) return false;
  }
  return true;
}

bool CableStates::decide(CableId cable, CableState state) {
  pending_.push_back({cable, state});
  return propagate();
}

bool CableStates::propagate() {
  while (!pending_.empty()) {
    const auto [cable, state] = pending_.back();
    pending_.pop_back();
    if (states_[cable] == state) continue;
    if (states_[cable] != CableState::open || !apply(cable, state)) return false;
  }
  return true;
}

bool CableStates::apply(CableId cable, CableState state) {
  const auto [a, b] = graph_.ends[cable];
  const std::array<ChipId, 2> path_ends = {chips_[a].far_end, chips_[b].far_end};
  states_[cable] = state;
  decided_.push_back({cable, path_ends});
  for (const ChipId chip : {a, b}) {
    --chips_[chip].open;
    if (state == CableState::in) ++chips_[chip].in;
  }
  if (state == CableState::in) {
    ++cables_in_;
    const bool closes_ring = path_ends[0] == b;
    chips_[path_ends[0]].far_end = path_ends[1];
    chips_[path_ends[1]].far_end = path_ends[0];
    if (one_ring_ && closes_ring && cables_in_ < graph_.chip_count()) return false;
    if (one_ring_ && !closes_ring) keep_path_open(path_ends);
  }
  return settle(a, state) && settle(b, state);
}

void CableStates::undo() {
  const auto [cable, path_ends] = decided_.back();
  decided_.pop_back();
  const auto [a, b] = graph_.ends[cable];
  for (const ChipId chip : {a, b}) {
    ++chips_[chip].open;
    if (states_[cable] == CableState::in) --chips_[chip].in;
  }
  if (states_[cable] == CableState::in) {
    --cables_in_;
    chips_[path_ends[0]].far_end = a;
    chips_[path_ends[1]].far_end = b;
  }
  states_[cable] = CableState::open;
}

void CableStates::keep_path_open(const std::array<ChipId, 2>& path_ends) {
  if (cables_in_ + 1 >= graph_.chip_count()) return;
  spend(graph_.cables_of[path_ends[0]].size());
  for (const CableId cable : graph_.cables_of[path_ends[0]]) {
    if (states_[cable] == CableState::open &&
        graph_.other_end(cable, path_ends[0]) == path_ends[1]) {
      pending_.push_back({cable, CableState::out});
    }
  }
}

bool CableStates::settle(ChipId chip, CableState decided) {
  constexpr std::uint32_t kCablesOfAChip = 2;
  const Chip& counts = chips_[chip];
  if (counts.in > kCablesOfAChip || counts.in + counts.open < kCablesOfAChip) return false;
  if (decided == CableState::in) {
    if (counts.in == kCablesOfAChip) push_open_cables(chip, CableState::out);
  } else if (counts.in + counts.open == kCablesOfAChip) {
    push_open_cables(chip, CableState::in);
  }
  return true;
}

void CableStates::push_open_cables(ChipId chip, CableState state) {
  spend(graph_.cables_of[chip].size());
  for (const CableId cable : graph_.cables_of[chip]) {
    if (states_[cable] == CableState::open) pending_.push_back({cable, state});
  }
}

RingCover CableStates::cover() const {
  RingCover cover(graph_.chip_count());
  std::vector<std::uint32_t> joined(graph_.chip_count(), 0);
  for (CableId cable = 0; cable < states_.size(); ++cable) {
    if (states_[cable] != CableState::in) continue;
    const auto [a, b] = graph_.ends[cable];
    cover[a][joined[a]++] = b;
    cover[b][joined[b]++] = a;
  }
  return cover;
}

}  // namespace equarx::topology
