// Reference implementation: validity of a ring, and its existence by exhaustive search.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "topologies/topology.hpp"

namespace equarx::topology {

/// Empty if the ring visits each chip once over links that exist in both directions, else the
/// defect.
inline std::string fault_of(const std::vector<ChipId>& ring, const Topology& topology) {
  if (ring.size() != topology.chip_count()) return "has " + std::to_string(ring.size()) + " chips";
  if (std::set(ring.begin(), ring.end()).size() != ring.size()) return "visits a chip twice";
  if (ring.size() == 1) return "";
  for (std::size_t place = 0; place < ring.size(); ++place) {
    const ChipId here = ring[place];
    const ChipId next = ring[(place + 1) % ring.size()];
    if (!topology.find_link(here, next) || !topology.find_link(next, here)) {
      return "lacks a link between " + topology.label(here) + " and " + topology.label(next);
    }
  }
  return "";
}

/// Exhaustive search: true if the path, which starts at chip 0, extends to a ring.
inline bool can_complete(const Topology& topology, std::vector<ChipId>& path,
                         std::vector<bool>& used) {
  if (path.size() == topology.chip_count()) {
    return path.size() == 1 || topology.find_link(path.back(), path.front()).has_value();
  }
  for (const LinkId link : topology.out_links(path.back())) {
    const ChipId next = topology.link(link).to;
    if (used[next]) continue;
    used[next] = true;
    path.push_back(next);
    if (can_complete(topology, path, used)) return true;
    path.pop_back();
    used[next] = false;
  }
  return false;
}

inline bool ring_exists(const Topology& topology) {
  std::vector<ChipId> path{0};
  std::vector<bool> used(topology.chip_count(), false);
  used[0] = true;
  return can_complete(topology, path, used);
}

}  // namespace equarx::topology
