// The cables that a ring may use, laid out for searching.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "topologies/topology.hpp"

namespace equarx::topology {

/// A cable of a CableGraph, 0 to ends.size() - 1.
using CableId = std::uint32_t;

/// The cables of a topology without those to avoid, as an undirected graph.
struct CableGraph {
  std::vector<std::array<ChipId, 2>> ends;
  std::vector<std::vector<CableId>> cables_of;  ///< by chip

  std::uint32_t chip_count() const { return static_cast<std::uint32_t>(cables_of.size()); }
  ChipId other_end(CableId cable, ChipId chip) const {
    return ends[cable][0] == chip ? ends[cable][1] : ends[cable][0];
  }
  /// Whether a cable joins the two.
  bool joins(ChipId first, ChipId second) const;
};

/// Throws std::invalid_argument if no cable joins the chips of a pair to avoid.
CableGraph usable_cables(const Topology& topology, const std::vector<Cable>& avoid);

}  // namespace equarx::topology
