#include "topologies/ring_cover.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "topologies/cable_states.hpp"

namespace equarx::topology {
namespace {

/// Depth-first search over link decisions.
class Backtracking {
 public:
  Backtracking(const CableGraph& graph, CoverKind kind, std::uint64_t& budget)
      : graph_(graph),
        one_ring_(kind == CoverKind::one_ring),
        budget_(budget),
        states_(graph, one_ring_, budget) {}

  CoverSearch run() {
    bool consistent = states_.settle_all_chips();
    while (budget_ > 0) {
      if (!consistent) {
        if (guesses_.empty()) return {std::nullopt, true};
        consistent = retract();
      } else if (states_.cables_in() == graph_.chip_count()) {
        return {states_.cover(), false};
      } else if (one_ring_ && !is_connected()) {
        consistent = false;
      } else {
        const CableId cable = most_constrained_cable();
        guesses_.push_back({states_.decisions(), cable});
        consistent = states_.decide(cable, CableState::in);
      }
    }
    return {std::nullopt, false};
  }

 private:
  struct Guess {
    std::size_t decisions_before;
    CableId cable;
  };

  void spend(std::uint64_t steps) { budget_ -= std::min(steps, budget_); }

  /// Undoes the last guess and excludes its link, as a consequence of the earlier guesses.
  bool retract() {
    const Guess guess = guesses_.back();
    guesses_.pop_back();
    states_.undo_to(guess.decisions_before);
    return states_.decide(guess.cable, CableState::out);
  }

  bool is_connected() {
    std::vector<bool> reached(graph_.chip_count(), false);
    std::vector<ChipId> frontier{0};
    reached[0] = true;
    std::uint32_t count = 0;
    while (!frontier.empty()) {
      const ChipId chip = frontier.back();
      frontier.pop_back();
      ++count;
      spend(graph_.cables_of[chip].size());
      for (const CableId cable : graph_.cables_of[chip]) {
        const ChipId next = graph_.other_end(cable, chip);
        if (states_.state(cable) == CableState::out || reached[next]) continue;
        reached[next] = true;
        frontier.push_back(next);
      }
    }
    return count == graph_.chip_count();
  }

  /// Returns a link to branch on: at the chip with the fewest undecided links, path ends first, the
  /// link to the neighbour with the fewest.
  CableId most_constrained_cable() {
    const auto urgency = [&](ChipId chip) {
      const CableStates::Chip& counts = states_.chip(chip);
      if (counts.open == 0) return std::numeric_limits<std::uint64_t>::max();
      return std::uint64_t{counts.in == 0} << 32U | counts.open;
    };
    ChipId best = 0;
    for (ChipId chip = 1; chip < graph_.chip_count(); ++chip) {
      if (urgency(chip) < urgency(best)) best = chip;
    }
    spend(graph_.chip_count());
    std::optional<CableId> choice;
    for (const CableId cable : graph_.cables_of[best]) {
      if (states_.state(cable) != CableState::open) continue;
      if (!choice ||
          urgency(graph_.other_end(cable, best)) < urgency(graph_.other_end(*choice, best))) {
        choice = cable;
      }
    }
    return choice.value();
  }

  const CableGraph& graph_;
  bool one_ring_;
  std::uint64_t& budget_;
  CableStates states_;
  std::vector<Guess> guesses_;
};

}  // namespace

CoverSearch search_cover(const CableGraph& graph, CoverKind kind, std::uint64_t& budget) {
  return Backtracking(graph, kind, budget).run();
}

std::vector<ChipId> chips_along(const RingCover& cover) {
  std::vector<ChipId> chips{0};
  ChipId chip = cover[0][0];
  while (chip != 0) {
    const ChipId before = chips.back();
    chips.push_back(chip);
    chip = cover[chip][cover[chip][0] == before ? 1 : 0];
  }
  return chips;
}

}  // namespace equarx::topology
