// Implements join_rings() of ring_cover.hpp.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "topologies/ring_cover.hpp"

namespace equarx::topology {
namespace {

/// Exchanges pairs of links between neighbouring rings until one ring is left.
class RingJoiner {
 public:
  RingJoiner(const CableGraph& graph, RingCover cover, std::uint64_t& budget)
      : graph_(graph), cover_(std::move(cover)), budget_(budget), ring_of_(graph.chip_count()) {
    label_rings();
  }

  std::optional<RingCover> run() {
    while (budget_ > 0) {
      while (rings_ > 1 && merge_rings()) {
      }
      if (rings_ == 1) return cover_;
      exchange_at_random();
    }
    return std::nullopt;
  }

 private:
  void spend(std::uint64_t steps) { budget_ -= std::min(steps, budget_); }

  void label_rings() {
    rings_ = 0;
    std::ranges::fill(ring_of_, kNoRing);
    for (ChipId chip = 0; chip < graph_.chip_count(); ++chip) {
      if (ring_of_[chip] == kNoRing) label_ring(chip, rings_++);
    }
  }

  void label_ring(ChipId start, std::uint32_t number) {
    ChipId before = start;
    ChipId chip = start;
    do {
      ring_of_[chip] = number;
      spend(1);
      const ChipId next = cover_[chip][cover_[chip][0] == before ? 1 : 0];
      before = chip;
      chip = next;
    } while (chip != start);
  }

  static void replace(std::array<ChipId, 2>& joined, ChipId old, ChipId fresh) {
    joined[joined[0] == old ? 0 : 1] = fresh;
  }

  /// Replaces links a-b and c-d by a-c and b-d.
  void exchange(ChipId a, ChipId b, ChipId c, ChipId d) {
    replace(cover_[a], b, c);
    replace(cover_[b], a, d);
    replace(cover_[c], d, a);
    replace(cover_[d], c, b);
  }

  bool are_joined(ChipId chip, ChipId other) const {
    return cover_[chip][0] == other || cover_[chip][1] == other;
  }

  bool merge_rings() {
    bool merged = false;
    for (ChipId a = 0; a < graph_.chip_count() && rings_ > 1 && budget_ > 0; ++a) {
      merged = merge_at(a) || merged;
    }
    return merged;
  }

  /// Merges the ring of chip a with a neighbouring ring, if possible.
  bool merge_at(ChipId a) {
    for (const CableId cable : graph_.cables_of[a]) {
      spend(1);
      const ChipId c = graph_.other_end(cable, a);
      if (ring_of_[c] == ring_of_[a]) continue;
      for (const ChipId b : cover_[a]) {
        for (const ChipId d : cover_[c]) {
          spend(graph_.cables_of[b].size());
          if (!graph_.joins(b, d)) continue;
          const std::uint32_t number = ring_of_[c];
          exchange(a, b, c, d);
          label_ring(a, number);
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
    spend(1 + graph_.cables_of[b].size());
    if (are_joined(a, c) || b == d || !graph_.joins(b, d) || are_joined(b, d)) return;
    exchange(a, b, c, d);
    label_rings();
  }

  /// Linear congruential generator with the constants of Knuth's MMIX.
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

std::optional<RingCover> join_rings(const CableGraph& graph, RingCover cover,
                                    std::uint64_t& budget) {
  return RingJoiner(graph, std::move(cover), budget).run();
}

}  // namespace equarx::topology
