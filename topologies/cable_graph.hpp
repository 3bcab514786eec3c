// Undirected graph of the usable links of a topology. A cable is a link with both its directions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "topologies/topology.hpp"

namespace equarx::topology {

/// Index of a link in a CableGraph, 0 to ends.size() - 1.
using CableId = std::uint32_t;

/// The links of a topology, except the avoided ones, as an undirected graph.
struct CableGraph {
  std::vector<std::array<ChipId, 2>> ends;
  std::vector<std::vector<CableId>> cables_of;  ///< by chip, then by switch

  std::uint32_t chip_count() const { return static_cast<std::uint32_t>(cables_of.size()); }
  ChipId other_end(CableId cable, ChipId chip) const {
    return ends[cable][0] == chip ? ends[cable][1] : ends[cable][0];
  }
  /// True if a link joins the two chips.
  bool joins(ChipId first, ChipId second) const;
};

/// Builds the graph. Throws std::invalid_argument if no link joins the chips of a pair in `avoid`.
CableGraph usable_cables(const Topology& topology, const std::vector<Cable>& avoid);

}  // namespace equarx::topology
