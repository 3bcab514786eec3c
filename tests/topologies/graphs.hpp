// Topologies other than grids.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "topologies/topology.hpp"

namespace equarx::topology {

/// Random numbers that are reproducible across runs and standard libraries.
class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t below(std::size_t limit) { return static_cast<std::uint32_t>(engine_() % limit); }

 private:
  std::mt19937 engine_;
};

/// True if `cables` contains the link, in either direction.
inline bool contains(const std::vector<Cable>& cables, ChipId first, ChipId second) {
  return std::ranges::any_of(cables, [&](const Cable& cable) {
    return (cable.first == first && cable.second == second) ||
           (cable.first == second && cable.second == first);
  });
}

inline std::vector<Cable> cables_of(const Topology& topology) {
  std::vector<Cable> cables;
  for (LinkId id = 0; id < topology.link_count(); id += 2) {
    cables.push_back({topology.link(id).from, topology.link(id).to});
  }
  return cables;
}

/// Returns the topology without some of its links.
inline Topology without(const Topology& topology, const std::vector<Cable>& gone) {
  std::vector<Cable> cables;
  for (const Cable& cable : cables_of(topology)) {
    if (!contains(gone, cable.first, cable.second)) cables.push_back(cable);
  }
  return Topology(topology.chip_count(), cables);
}

/// The Petersen graph: ten chips with three links each and no Hamiltonian ring, though no simpler
/// criterion rules one out.
inline Topology petersen() {
  std::vector<Cable> cables;
  for (ChipId i = 0; i < 5; ++i) {
    cables.push_back({i, (i + 1) % 5});
    cables.push_back({i, i + 5});
    cables.push_back({i + 5, (i + 2) % 5 + 5});
  }
  return Topology(10, cables);
}

/// A connected random graph: a random tree plus further links.
inline Topology random_graph(std::uint32_t chips, std::uint32_t cable_count, Random& random) {
  std::vector<Cable> cables;
  for (ChipId chip = 1; chip < chips; ++chip) cables.push_back({random.below(chip), chip});
  while (cables.size() < cable_count) {
    const ChipId first = random.below(chips);
    const ChipId second = random.below(chips);
    if (first != second && !contains(cables, first, second)) cables.push_back({first, second});
  }
  return Topology(chips, cables);
}

/// A twisted torus of rows x (2 rows) chips: wraps around the second axis, and around the first
/// with a twist of half the second axis, as TPU v4 slices can be configured.
inline Topology twisted_torus(std::uint32_t rows) {
  const std::uint32_t columns = 2 * rows;
  std::vector<Cable> cables;
  for (ChipId chip = 0; chip < rows * columns; ++chip) {
    const std::uint32_t row = chip / columns;
    const std::uint32_t column = chip % columns;
    cables.push_back({chip, row * columns + (column + 1) % columns});
    const std::uint32_t twist = row + 1 == rows ? rows : 0;
    cables.push_back({chip, (row + 1) % rows * columns + (column + twist) % columns});
  }
  return Topology(rows * columns, cables);
}

}  // namespace equarx::topology
