#include "topologies/cable_graph.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace equarx::topology {

bool CableGraph::joins(ChipId first, ChipId second) const {
  return std::ranges::any_of(cables_of[first],
                             [&](CableId cable) { return other_end(cable, first) == second; });
}

CableGraph usable_cables(const Topology& topology, const std::vector<Cable>& avoid) {
  std::vector<bool> avoided(topology.link_count() / 2, false);
  for (const Cable& cable : avoid) {
    const auto link = topology.find_link(cable.first, cable.second);
    if (!link) {
      throw std::invalid_argument(
          fmt::format("no link joins {} and {}; avoid only links that exist",
                      topology.label(cable.first), topology.label(cable.second)));
    }
    avoided[*link / 2] = true;
  }
  CableGraph graph;
  graph.cables_of.resize(topology.node_count());
  for (CableId cable = 0; cable < avoided.size(); ++cable) {
    if (avoided[cable]) continue;
    const Link link = topology.link(2 * cable);
    for (const ChipId chip : {link.from, link.to}) {
      graph.cables_of[chip].push_back(static_cast<CableId>(graph.ends.size()));
    }
    graph.ends.push_back({link.from, link.to});
  }
  return graph;
}

}  // namespace equarx::topology
