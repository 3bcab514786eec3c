#include "topologies/ring_cover.hpp"

#include <algorithm>
#include <limits>

namespace equarx::topology {
namespace {

enum class State : std::uint8_t { open, in, out };

class Backtracking {
 public:
  Backtracking(const CableGraph& graph, CoverKind kind, std::uint64_t& budget)
      : graph_(graph),
        one_ring_(kind == CoverKind::one_ring),
        budget_(budget),
        states_(graph.ends.size(), State::open),
        chips_(graph.chip_count()) {
    for (ChipId chip = 0; chip < graph.chip_count(); ++chip) {
      chips_[chip] = {static_cast<std::uint32_t>(graph.cables_of[chip].size()), 0, chip};
    }
  }

  CoverSearch run() {
    bool consistent = settle_all_chips();
    while (budget_ > 0) {
      if (!consistent) {
        if (guesses_.empty()) return {std::nullopt, true};
        consistent = retract();
      } else if (cables_in_ == graph_.chip_count()) {
        return {cover(), false};
      } else if (one_ring_ && !hangs_together()) {
        consistent = false;
      } else {
        const CableId cable = most_constrained_cable();
        guesses_.push_back({decided_.size(), cable});
        consistent = decide(cable, State::in);
      }
    }
    return {std::nullopt, false};
  }

 private:
  struct Chip {
    std::uint32_t open = 0;  ///< cables that are not decided
    std::uint32_t in = 0;
    ChipId far_end = 0;  ///< of the path that ends here; of a chip without cables, itself
  };
  struct Decision {
    CableId cable;
    std::array<ChipId, 2> path_ends;  ///< of the path that it made
  };
  struct Guess {
    std::size_t decisions_before;
    CableId cable;
  };

  void pay(std::uint64_t steps) { budget_ -= std::min(steps, budget_); }

  bool settle_all_chips() {
    for (ChipId chip = 0; chip < graph_.chip_count(); ++chip) {
      if (!settle(chip, State::out) || !propagate()) return false;
    }
    return true;
  }

  /// Takes the last guess back: its cable is out, as a consequence of the guesses before.
  bool retract() {
    const Guess guess = guesses_.back();
    guesses_.pop_back();
    pending_.clear();
    while (decided_.size() > guess.decisions_before) undo();
    return decide(guess.cable, State::out);
  }

  /// Decides a cable and all that follows from it; false if that cannot be.
  bool decide(CableId cable, State state) {
    pending_.push_back({cable, state});
    return propagate();
  }

  bool propagate() {
    while (!pending_.empty()) {
      const auto [cable, state] = pending_.back();
      pending_.pop_back();
      if (states_[cable] == state) continue;
      if (states_[cable] != State::open || !apply(cable, state)) return false;
    }
    return true;
  }

  bool apply(CableId cable, State state) {
    const auto [a, b] = graph_.ends[cable];
    const std::array<ChipId, 2> path_ends = {chips_[a].far_end, chips_[b].far_end};
    states_[cable] = state;
    decided_.push_back({cable, path_ends});
    for (const ChipId chip : {a, b}) {
      --chips_[chip].open;
      if (state == State::in) ++chips_[chip].in;
    }
    if (state == State::in) {
      ++cables_in_;
      const bool closes_ring = path_ends[0] == b;
      chips_[path_ends[0]].far_end = path_ends[1];
      chips_[path_ends[1]].far_end = path_ends[0];
      if (one_ring_ && closes_ring && cables_in_ < graph_.chip_count()) return false;
      if (one_ring_ && !closes_ring) keep_path_open(path_ends);
    }
    return settle(a, state) && settle(b, state);
  }

  void undo() {
    const auto [cable, path_ends] = decided_.back();
    decided_.pop_back();
    const auto [a, b] = graph_.ends[cable];
    for (const ChipId chip : {a, b}) {
      ++chips_[chip].open;
      if (states_[cable] == State::in) --chips_[chip].in;
    }
    if (states_[cable] == State::in) {
      --cables_in_;
      chips_[path_ends[0]].far_end = a;
      chips_[path_ends[1]].far_end = b;
    }
    states_[cable] = State::open;
  }

  /// A cable that joins the ends of a path is out, unless it completes the ring.
  void keep_path_open(const std::array<ChipId, 2>& path_ends) {
    if (cables_in_ + 1 >= graph_.chip_count()) return;
    pay(graph_.cables_of[path_ends[0]].size());
    for (const CableId cable : graph_.cables_of[path_ends[0]]) {
      if (states_[cable] == State::open && graph_.other_end(cable, path_ends[0]) == path_ends[1]) {
        pending_.push_back({cable, State::out});
      }
    }
  }

  /// What follows for the other cables of a chip after one was decided.
  bool settle(ChipId chip, State decided) {
    constexpr std::uint32_t kCablesOfAChip = 2;
    const Chip& place = chips_[chip];
    if (place.in > kCablesOfAChip || place.in + place.open < kCablesOfAChip) return false;
    if (decided == State::in) {
      if (place.in == kCablesOfAChip) push_open_cables(chip, State::out);
    } else if (place.in + place.open == kCablesOfAChip) {
      push_open_cables(chip, State::in);
    }
    return true;
  }

  void push_open_cables(ChipId chip, State state) {
    pay(graph_.cables_of[chip].size());
    for (const CableId cable : graph_.cables_of[chip]) {
      if (states_[cable] == State::open) pending_.push_back({cable, state});
    }
  }

  bool hangs_together() {
    std::vector<bool> reached(graph_.chip_count(), false);
    std::vector<ChipId> waiting{0};
    reached[0] = true;
    std::uint32_t count = 0;
    while (!waiting.empty()) {
      const ChipId chip = waiting.back();
      waiting.pop_back();
      ++count;
      pay(graph_.cables_of[chip].size());
      for (const CableId cable : graph_.cables_of[chip]) {
        const ChipId next = graph_.other_end(cable, chip);
        if (states_[cable] == State::out || reached[next]) continue;
        reached[next] = true;
        waiting.push_back(next);
      }
    }
    return count == graph_.chip_count();
  }

  /// Of the chip with the fewest open cables, ends of paths first: the cable to the chip that has
  /// the fewest.
  CableId most_constrained_cable() {
    const auto urgency = [&](ChipId chip) {
      const Chip& place = chips_[chip];
      if (place.open == 0) return std::numeric_limits<std::uint64_t>::max();
      return std::uint64_t{place.in == 0} << 32U | place.open;
    };
    ChipId best = 0;
    for (ChipId chip = 1; chip < graph_.chip_count(); ++chip) {
      if (urgency(chip) < urgency(best)) best = chip;
    }
    pay(graph_.chip_count());
    std::optional<CableId> choice;
    for (const CableId cable : graph_.cables_of[best]) {
      if (states_[cable] != State::open) continue;
      if (!choice ||
          urgency(graph_.other_end(cable, best)) < urgency(graph_.other_end(*choice, best))) {
        choice = cable;
      }
    }
    return choice.value();
  }

  RingCover cover() const {
    RingCover cover(graph_.chip_count());
    std::vector<std::uint32_t> joined(graph_.chip_count(), 0);
    for (CableId cable = 0; cable < states_.size(); ++cable) {
      if (states_[cable] != State::in) continue;
      const auto [a, b] = graph_.ends[cable];
      cover[a][joined[a]++] = b;
      cover[b][joined[b]++] = a;
    }
    return cover;
  }

  const CableGraph& graph_;
  bool one_ring_;
  std::uint64_t& budget_;
  std::vector<State> states_;  ///< by cable
  std::vector<Chip> chips_;
  std::uint32_t cables_in_ = 0;
  std::vector<Decision> decided_;
  std::vector<Guess> guesses_;
  struct Pending {
    CableId cable;
    State state;
  };
  std::vector<Pending> pending_;
};

class RingJoiner {
 public:
  RingJoiner(const CableGraph& graph, RingCover cover, std::uint64_t& budget)
      : graph_(graph), cover_(std::move(cover)), budget_(budget), ring_of_(graph.chip_count()) {
    number_rings();
  }

  std::optional<RingCover> run() {
    while (budget_ > 0) {
      while (rings_ > 1 && join_some()) {
      }
      if (rings_ == 1) return cover_;
      exchange_at_random();
    }
    return std::nullopt;
  }

 private:
  void pay(std::uint64_t steps) { budget_ -= std::min(steps, budget_); }

  void number_rings() {
    rings_ = 0;
    std::ranges::fill(ring_of_, kNoRing);
    for (ChipId chip = 0; chip < graph_.chip_count(); ++chip) {
      if (ring_of_[chip] == kNoRing) give_number(chip, rings_++);
    }
  }

  void give_number(ChipId start, std::uint32_t number) {
    ChipId before = start;
    ChipId chip = start;
    do {
      ring_of_[chip] = number;
      pay(1);
      const ChipId next = cover_[chip][cover_[chip][0] == before ? 1 : 0];
      before = chip;
      chip = next;
    } while (chip != start);
  }

  static void replace(std::array<ChipId, 2>& joined, ChipId old, ChipId fresh) {
    joined[joined[0] == old ? 0 : 1] = fresh;
  }

  /// Takes cables a-b and c-d out, and a-c and b-d in.
  void exchange(ChipId a, ChipId b, ChipId c, ChipId d) {
    replace(cover_[a], b, c);
    replace(cover_[b], a, d);
    replace(cover_[c], d, a);
    replace(cover_[d], c, b);
  }

  bool is_joined(ChipId chip, ChipId other) const {
    return cover_[chip][0] == other || cover_[chip][1] == other;
  }

  bool join_some() {
    bool joined_any = false;
    for (ChipId a = 0; a < graph_.chip_count() && rings_ > 1 && budget_ > 0; ++a) {
      joined_any = join_at(a) || joined_any;
    }
    return joined_any;
  }

  /// Joins the ring of chip a to a ring beside it, if it can be.
  bool join_at(ChipId a) {
    for (const CableId cable : graph_.cables_of[a]) {
      pay(1);
      const ChipId c = graph_.other_end(cable, a);
      if (ring_of_[c] == ring_of_[a]) continue;
      for (const ChipId b : cover_[a]) {
        for (const ChipId d : cover_[c]) {
          pay(graph_.cables_of[b].size());
          if (!graph_.joins(b, d)) continue;
          const std::uint32_t number = ring_of_[c];
          exchange(a, b, c, d);
          give_number(a, number);
          --rings_;
          return true;
        }
      }
    }
    return false;
  }

  void exchange_at_random() {
    const ChipId a = random_below(graph_.chip_count());
    const auto& cables = graph_.cables_of[a];
    const ChipId c = graph_.other_end(cables[random_below(cables.size())], a);
    const ChipId b = cover_[a][random_below(2)];
    const ChipId d = cover_[c][random_below(2)];
    pay(1 + graph_.cables_of[b].size());
    if (is_joined(a, c) || b == d || !graph_.joins(b, d) || is_joined(b, d)) return;
    exchange(a, b, c, d);
    number_rings();
  }

  /// The multiplier and increment are those of Knuth's MMIX.
  std::uint32_t random_below(std::size_t limit) {
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>((random_ >> 33U) % limit);
  }

  static constexpr std::uint32_t kNoRing = std::numeric_limits<std::uint32_t>::max();

  const CableGraph& graph_;
  RingCover cover_;
  std::uint64_t& budget_;
  std::vector<std::uint32_t> ring_of_;  ///< by chip
  std::uint32_t rings_ = 0;
  std::uint64_t random_ = 1;
};

}  // namespace

CoverSearch search_cover(const CableGraph& graph, CoverKind kind, std::uint64_t& budget) {
  return Backtracking(graph, kind, budget).run();
}

std::optional<RingCover> join_rings(const CableGraph& graph, RingCover cover,
                                    std::uint64_t& budget) {
  return RingJoiner(graph, std::move(cover), budget).run();
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
