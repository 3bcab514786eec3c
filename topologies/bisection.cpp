#include "topologies/bisection.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>

namespace equarx::topology {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double weight_between(const CableGraph& graph, std::span<const double> weights,
                      std::uint32_t half) {
  double sum = 0.0;
  for (CableId cable = 0; cable < graph.ends.size(); ++cable) {
    const auto [first, second] = graph.ends[cable];
    if (((half >> first) ^ (half >> second)) & 1U) sum += weights[cable];
  }
  return sum;
}

/// Returns the next larger number with the same number of bits set (HAKMEM, item 175).
std::uint64_t next_with_same_bits(std::uint64_t bits) {
  const std::uint64_t lowest = bits & (~bits + 1);
  const std::uint64_t carried = bits + lowest;
  return carried | (((bits ^ carried) >> 2U) / lowest);
}

/// Returns the half of the chips that is closest to `start`, in breadth-first order.
std::vector<bool> near_half(const CableGraph& graph, ChipId start) {
  std::vector<bool> reached(graph.chip_count(), false);
  std::vector<bool> near(graph.chip_count(), false);
  std::vector<ChipId> queue{start};
  reached[start] = true;
  ChipId next_start = 0;
  for (std::size_t i = 0; i < graph.chip_count() / 2; ++i) {
    if (i == queue.size()) {  // the rest is not connected
      while (reached[next_start]) ++next_start;
      reached[next_start] = true;
      queue.push_back(next_start);
    }
    near[queue[i]] = true;
    for (const CableId cable : graph.cables_of[queue[i]]) {
      const ChipId next = graph.other_end(cable, queue[i]);
      if (reached[next]) continue;
      reached[next] = true;
      queue.push_back(next);
    }
  }
  return near;
}

class KernighanLin {
 public:
  KernighanLin(const CableGraph& graph, std::span<const double> weights, std::vector<bool> sides)
      : graph_(graph), weights_(weights), sides_(std::move(sides)) {}

  /// Runs one pass: exchanges pairs of chips, best first, each chip once, and keeps the prefix of
  /// exchanges with the largest total gain. Returns that gain.
  double improve() {
    find_gains();
    locked_.assign(graph_.chip_count(), false);
    const std::vector<bool> before = sides_;
    std::vector<Exchange> exchanges;
    double gain = 0.0;
    double best_gain = 0.0;
    std::size_t best_count = 0;
    while (const auto exchange = best_exchange()) {
      gain += exchange->gain;
      move(exchange->first);
      move(exchange->second);
      exchanges.push_back(*exchange);
      if (gain <= best_gain + kMinGain) continue;
      best_gain = gain;
      best_count = exchanges.size();
    }
    sides_ = before;
    for (std::size_t i = 0; i < best_count; ++i) {
      sides_[exchanges[i].first].flip();
      sides_[exchanges[i].second].flip();
    }
    return best_gain;
  }

  double cut() const {
    double sum = 0.0;
    for (CableId cable = 0; cable < graph_.ends.size(); ++cable) {
      const auto [first, second] = graph_.ends[cable];
      if (sides_[first] != sides_[second]) sum += weights_[cable];
    }
    return sum;
  }

  const std::vector<bool>& sides() const { return sides_; }

 private:
  struct Exchange {
    ChipId first;
    ChipId second;
    double gain;
  };

  // Weights summed in another order differ by rounding; such a difference is not a gain.
  static constexpr double kMinGain = 1e-6;

  void find_gains() {
    gains_.assign(graph_.chip_count(), 0.0);
    for (CableId cable = 0; cable < graph_.ends.size(); ++cable) {
      const auto [first, second] = graph_.ends[cable];
      const double gain = sides_[first] != sides_[second] ? weights_[cable] : -weights_[cable];
      gains_[first] += gain;
      gains_[second] += gain;
    }
  }

  std::optional<ChipId> best_chip(bool side) const {
    std::optional<ChipId> best;
    for (ChipId chip = 0; chip < graph_.chip_count(); ++chip) {
      if (locked_[chip] || sides_[chip] != side) continue;
      if (!best || gains_[chip] > gains_[*best]) best = chip;
    }
    return best;
  }

  /// Returns the chip of side 0 with the largest gain, paired with the best chip of side 1.
  std::optional<Exchange> best_exchange() const {
    const auto first = best_chip(false);
    if (!first) return std::nullopt;
    std::vector<double> joint = gains_;
    for (const CableId cable : graph_.cables_of[*first]) {
      joint[graph_.other_end(cable, *first)] -= 2.0 * weights_[cable];
    }
    std::optional<ChipId> second;
    for (ChipId chip = 0; chip < graph_.chip_count(); ++chip) {
      if (locked_[chip] || !sides_[chip]) continue;
      if (!second || joint[chip] > joint[*second]) second = chip;
    }
    if (!second) return std::nullopt;
    return Exchange{*first, *second, gains_[*first] + joint[*second]};
  }

  void move(ChipId chip) {
    locked_[chip] = true;
    sides_[chip].flip();
    gains_[chip] = -gains_[chip];
    for (const CableId cable : graph_.cables_of[chip]) {
      const ChipId other = graph_.other_end(cable, chip);
      gains_[other] += (sides_[other] != sides_[chip] ? 2.0 : -2.0) * weights_[cable];
    }
  }

  const CableGraph& graph_;
  std::span<const double> weights_;
  std::vector<bool> sides_;
  std::vector<bool> locked_;
  std::vector<double> gains_;
};

/// Normalizes weights to the heaviest, so that kMinGain does not depend on their unit.
std::vector<double> relative_weights(std::span<const double> weights) {
  const double heaviest = weights.empty() ? 0.0 : *std::ranges::max_element(weights);
  std::vector<double> relative(weights.begin(), weights.end());
  if (heaviest > 0.0) {
    for (double& weight : relative) weight /= heaviest;
  }
  return relative;
}

}  // namespace

std::vector<bool> lightest_halves(const CableGraph& graph, std::span<const double> weights) {
  constexpr std::uint32_t kMaxChips = 32;
  const std::uint32_t chips = graph.chip_count();
  if (chips > kMaxChips) throw std::logic_error("too many chips to try every cut");
  std::uint64_t lightest = 0;
  double least = kInfinity;
  for (std::uint64_t half = (std::uint64_t{1} << chips / 2) - 1; half >> chips == 0;
       half = next_with_same_bits(half)) {
    const double weight = weight_between(graph, weights, static_cast<std::uint32_t>(half));
    if (weight < least) {
      least = weight;
      lightest = half;
    }
    if (half == 0) break;  // a single chip
  }
  std::vector<bool> sides(chips);
  for (ChipId chip = 0; chip < chips; ++chip) sides[chip] = ((lightest >> chip) & 1U) != 0;
  return sides;
}

std::vector<bool> light_halves(const CableGraph& graph, std::span<const double> weights) {
  // A pass visits every chip for every exchange. Large graphs get fewer starts, but at least one.
  constexpr std::uint64_t kMaxVisits = 200'000'000;
  constexpr std::uint64_t kMaxStarts = 32;
  constexpr int kMaxPasses = 10;
  const std::vector<double> relative = relative_weights(weights);
  const std::uint64_t chips = graph.chip_count();
  const std::uint64_t starts =
      std::clamp<std::uint64_t>(kMaxVisits / (chips * chips), 1, std::min(kMaxStarts, chips));
  std::vector<bool> best;
  double least = kInfinity;
  for (std::uint64_t start = 0; start < starts; ++start) {
    KernighanLin halves(graph, relative,
                        near_half(graph, static_cast<ChipId>(start * chips / starts)));
    for (int pass = 0; pass < kMaxPasses && halves.improve() > 0.0; ++pass) {
    }
    if (halves.cut() < least) {
      least = halves.cut();
      best = halves.sides();
    }
  }
  return best;
}

}  // namespace equarx::topology
