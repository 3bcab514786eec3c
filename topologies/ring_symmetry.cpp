#include "topologies/ring_symmetry.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "topologies/ring.hpp"

namespace equarx::topology {
namespace {

/// Cost of one link visit in search steps: it computes coordinates, which a plain search step does
/// not.
constexpr std::uint64_t kStepsPerVisit = 64;

/// Deducts the steps of `visits` link visits; false if the budget is exhausted.
bool spend(std::uint64_t& budget, std::uint64_t visits) {
  const std::uint64_t steps = visits * kStepsPerVisit;
  const bool enough = steps <= budget;
  budget -= std::min(steps, budget);
  return enough;
}

/// A symmetry of the grid: mirrors some axes, then shifts along them.
struct Motion {
  std::vector<bool> mirrored;
  Coordinates shift;

  std::uint32_t forth(const GridShape& shape, std::size_t axis, std::uint32_t at) const {
    const std::uint32_t length = shape.lengths[axis];
    return ((mirrored[axis] ? length - 1 - at : at) + shift[axis]) % length;
  }
  std::uint32_t back(const GridShape& shape, std::size_t axis, std::uint32_t at) const {
    const std::uint32_t length = shape.lengths[axis];
    const std::uint32_t unshifted = (at + length - shift[axis]) % length;
    return mirrored[axis] ? length - 1 - unshifted : unshifted;
  }
};

using Step = std::uint32_t (Motion::*)(const GridShape&, std::size_t, std::uint32_t) const;

Coordinates moved(const GridShape& shape, const Motion& motion, Step step,
                  const Coordinates& from) {
  Coordinates to(from.size());
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    to[axis] = (motion.*step)(shape, axis, from[axis]);
  }
  return to;
}

/// Advances to the next motion; false after the last one.
bool advance(const GridShape& shape, Motion& motion) {
  for (std::size_t axis = 0; axis < shape.lengths.size(); ++axis) {
    const std::uint32_t shifts = has_wraparound_links(shape, axis) ? shape.lengths[axis] : 1;
    if (++motion.shift[axis] < shifts) return true;
    motion.shift[axis] = 0;
    motion.mirrored[axis] = !motion.mirrored[axis];
    if (motion.mirrored[axis]) return true;
  }
  return false;
}

/// Returns hamiltonian_ring() of the grid with reordered axes, mapped back to its chips.
std::vector<ChipId> reordered_ring(const GridShape& shape, const std::vector<std::size_t>& order) {
  GridShape turned;
  for (const std::size_t axis : order) {
    turned.lengths.push_back(shape.lengths[axis]);
    turned.wraparound.push_back(shape.wraparound[axis]);
  }
  std::vector<ChipId> ring = hamiltonian_ring(turned);
  for (ChipId& chip : ring) {
    const Coordinates there = coordinates_of(turned, chip);
    Coordinates here(there.size());
    for (std::size_t i = 0; i < order.size(); ++i) here[order[i]] = there[i];
    chip = chip_at(shape, here);
  }
  return ring;
}

/// Predecessor and successor of each chip on a ring.
std::vector<std::array<ChipId, 2>> neighbours_on(const std::vector<ChipId>& ring) {
  std::vector<std::array<ChipId, 2>> neighbours(ring.size());
  for (std::size_t place = 0; place < ring.size(); ++place) {
    neighbours[ring[place]] = {ring[(place + ring.size() - 1) % ring.size()],
                               ring[(place + 1) % ring.size()]};
  }
  return neighbours;
}

struct Pair {
  Coordinates first;
  Coordinates second;
};

/// Applies the first motion under which the ring avoids the given links.
std::optional<std::vector<ChipId>> move_off(const GridShape& shape, std::vector<ChipId> ring,
                                            const std::vector<Pair>& avoid, std::uint64_t& budget) {
  const auto neighbours = neighbours_on(ring);
  Motion motion{std::vector<bool>(shape.lengths.size(), false),
                Coordinates(shape.lengths.size(), 0)};
  const auto before = [&](const Coordinates& place) {
    return chip_at(shape, moved(shape, motion, &Motion::back, place));
  };
  do {
    const auto is_used = [&](const Pair& pair) {
      if (!spend(budget, 1)) return true;
      const auto& [previous, next] = neighbours[before(pair.first)];
      const ChipId other = before(pair.second);
      return previous == other || next == other;
    };
    if (std::ranges::any_of(avoid, is_used)) continue;
    for (ChipId& chip : ring) {
      chip = chip_at(shape, moved(shape, motion, &Motion::forth, coordinates_of(shape, chip)));
    }
    std::rotate(ring.begin(), std::ranges::find(ring, ChipId{0}), ring.end());
    return ring;
  } while (budget > 0 && advance(shape, motion));
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<ChipId>> find_symmetric_ring(const GridShape& shape,
                                                       const std::vector<Cable>& avoid,
                                                       std::uint64_t& budget) {
  std::vector<Pair> pairs;
  for (const Cable& cable : avoid) {
    pairs.push_back({coordinates_of(shape, cable.first), coordinates_of(shape, cable.second)});
  }
  std::vector<std::size_t> order(shape.lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    if (!spend(budget, chip_count(shape))) return std::nullopt;
    auto ring = move_off(shape, reordered_ring(shape, order), pairs, budget);
    if (ring) return ring;
  } while (budget > 0 && std::ranges::next_permutation(order).found);
  return std::nullopt;
}

}  // namespace equarx::topology
