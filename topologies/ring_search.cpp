#include "topologies/ring_search.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/biconnected_components.hpp>
#include <fmt/format.h>

#include "topologies/cable_graph.hpp"
#include "topologies/ring_cover.hpp"
#include "topologies/ring_symmetry.hpp"

namespace equarx::topology {
namespace {

// Fractions 1/k of the budget; the rest is left to the exact search, the only stage that can prove
// that no ring exists.
constexpr std::uint64_t kSymmetryShare = 4;
constexpr std::uint64_t kJoiningShare = 3;
// Small rings are merged within a fraction of these steps or not at all, in which case the exact
// search is fast. Tuning builds hundreds of plans and searches for a ring in each.
constexpr std::uint64_t kJoiningStepsPerChip = 20'000;

RingSearch no_ring(std::string reason) {
  return {.outcome = RingOutcome::none, .reason = std::move(reason)};
}

RingSearch found(std::vector<ChipId> ring) {
  return {.outcome = RingOutcome::found, .ring = std::move(ring)};
}

std::optional<std::string> chip_with_few_links(const Topology& topology, const CableGraph& graph) {
  for (ChipId chip = 0; chip < graph.chip_count(); ++chip) {
    const std::size_t cables = graph.cables_of[chip].size();
    if (cables < 2) {
      return fmt::format("chip {} has only {} usable link{}, and a ring needs 2",
                         topology.label(chip), cables, cables == 1 ? "" : "s");
    }
  }
  return std::nullopt;
}

/// Two-colouring of the chips reached from chip 0.
struct Colouring {
  std::uint32_t first = 0;   ///< chips of the first colour
  std::uint32_t second = 0;  ///< chips of the second colour
  bool bipartite = true;
  std::optional<ChipId> unreached = std::nullopt;  ///< a chip of another component, if any
};

Colouring colour_chips(const CableGraph& graph) {
  constexpr int kNone = -1;
  std::vector<int> colours(graph.chip_count(), kNone);
  std::vector<ChipId> frontier{0};
  colours[0] = 0;
  Colouring result;
  while (!frontier.empty()) {
    const ChipId chip = frontier.back();
    frontier.pop_back();
    ++(colours[chip] == 0 ? result.first : result.second);
    for (const CableId cable : graph.cables_of[chip]) {
      const ChipId next = graph.other_end(cable, chip);
      if (colours[next] == colours[chip]) result.bipartite = false;
      if (colours[next] != kNone) continue;
      colours[next] = 1 - colours[chip];
      frontier.push_back(next);
    }
  }
  const auto unreached = std::ranges::find(colours, kNone);
  if (unreached != colours.end()) {
    result.unreached = static_cast<ChipId>(unreached - colours.begin());
  }
  return result;
}

std::optional<std::string> unequal_colours(const Topology& topology, const CableGraph& graph) {
  const Colouring colouring = colour_chips(graph);
  if (colouring.unreached) {
    return fmt::format("no usable links lead from chip {} to chip {}", topology.label(0),
                       topology.label(*colouring.unreached));
  }
  if (colouring.bipartite && colouring.first != colouring.second) {
    return fmt::format(
        "its usable links form a bipartite graph with parts of {} and {} chips, and a ring needs "
        "parts of equal size",
        colouring.first, colouring.second);
  }
  return std::nullopt;
}

std::optional<std::string> articulation(const Topology& topology, const CableGraph& graph) {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS> cables(graph.chip_count());
  for (const auto& [first, second] : graph.ends) boost::add_edge(first, second, cables);
  std::vector<ChipId> chips;
  boost::articulation_points(cables, std::back_inserter(chips));
  if (chips.empty()) return std::nullopt;
  return fmt::format("every path between two parts leads through chip {}",
                     topology.label(*std::ranges::min_element(chips)));
}

std::optional<std::string> obstacle(const Topology& topology, const CableGraph& graph) {
  for (const auto check : {chip_with_few_links, unequal_colours, articulation}) {
    if (auto reason = check(topology, graph)) return reason;
  }
  return std::nullopt;
}

RingSearch ring_of_two(const Topology& topology, const CableGraph& graph) {
  if (!graph.ends.empty()) return found({0, 1});
  return no_ring(
      fmt::format("no usable link joins chips {} and {}", topology.label(0), topology.label(1)));
}

RingSearch search_any_graph(const CableGraph& graph, std::uint64_t budget, std::uint64_t stated) {
  std::uint64_t share = budget / kJoiningShare;
  budget -= share;
  CoverSearch multiple = search_cover(graph, CoverKind::many_rings, share);
  if (multiple.exhausted) {
    return no_ring("its usable links have no 2-factor (two links at every chip)");
  }
  if (multiple.cover) {
    share = std::min(share, kJoiningStepsPerChip * graph.chip_count());
    if (const auto ring = join_rings(graph, std::move(*multiple.cover), share)) {
      return found(chips_along(*ring));
    }
  }
  const CoverSearch single = search_cover(graph, CoverKind::one_ring, budget);
  if (single.cover) return found(chips_along(*single.cover));
  if (single.exhausted) return no_ring("an exhaustive search found none");
  return {.reason = fmt::format("the search gave up after {} steps", stated)};
}

/// Every order of the chips is a ring: the switch joins any two of them.
RingSearch ring_on_switch(const Topology& topology) {
  std::vector<ChipId> chips(topology.chip_count());
  std::iota(chips.begin(), chips.end(), ChipId{0});
  return found(std::move(chips));
}

}  // namespace

RingSearch find_ring(const Topology& topology, const std::vector<Cable>& avoid,
                     const std::optional<GridShape>& shape, std::uint64_t budget) {
  const CableGraph graph = usable_cables(topology, avoid);
  if (topology.node_count() > topology.chip_count()) return ring_on_switch(topology);
  if (shape && chip_count(*shape) != graph.chip_count()) {
    throw std::logic_error("the topology was not made from the shape of the ring");
  }
  if (graph.chip_count() == 1) return found({0});
  if (graph.chip_count() == 2) return ring_of_two(topology, graph);
  if (auto reason = obstacle(topology, graph)) return no_ring(std::move(*reason));
  std::uint64_t remaining = budget;
  if (shape) {
    std::uint64_t share = budget / kSymmetryShare;
    remaining -= share;
    if (auto ring = find_symmetric_ring(*shape, avoid, share)) return found(std::move(*ring));
  }
  return search_any_graph(graph, remaining, budget);
}

}  // namespace equarx::topology
