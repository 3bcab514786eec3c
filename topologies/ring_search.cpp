#include "topologies/ring_search.hpp"

#include <algorithm>
#include <stdexcept>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/biconnected_components.hpp>
#include <fmt/format.h>

#include "topologies/cable_graph.hpp"
#include "topologies/ring_cover.hpp"
#include "topologies/ring_symmetry.hpp"

namespace equarx::topology {
namespace {

// Shares of the budget: the exact search, which alone proves that there is no ring, has what the
// others leave.
constexpr std::uint64_t kSymmetryShare = 4;
constexpr std::uint64_t kJoiningShare = 3;
// Rings of a few chips are joined within some of these steps or not at all, and then the exact search
// answers at once. Tuning makes hundreds of plans, each of which looks for its ring.
constexpr std::uint64_t kJoiningStepsPerChip = 20'000;

RingSearch no_ring(std::string reason) {
  return {.outcome = RingOutcome::none, .reason = std::move(reason)};
}

RingSearch found(std::vector<ChipId> ring) {
  return {.outcome = RingOutcome::found, .ring = std::move(ring)};
}

std::optional<std::string> lonely_chip(const Topology& topology, const CableGraph& graph) {
  for (ChipId chip = 0; chip < graph.chip_count(); ++chip) {
    const std::size_t cables = graph.cables_of[chip].size();
    if (cables < 2) {
      return fmt::format("chip {} has only {} usable cable{}, and a ring needs 2",
                         topology.label(chip), cables, cables == 1 ? "" : "s");
    }
  }
  return std::nullopt;
}

/// Whether chips of one colour have neighbours of the other colour only, which is known once all
/// are coloured; and how many are out of reach.
struct Colouring {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  bool works = true;
  std::optional<ChipId> unreached = std::nullopt;
};

Colouring colour_chips(const CableGraph& graph) {
  constexpr int kNone = -1;
  std::vector<int> colours(graph.chip_count(), kNone);
  std::vector<ChipId> waiting{0};
  colours[0] = 0;
  Colouring result;
  while (!waiting.empty()) {
    const ChipId chip = waiting.back();
    waiting.pop_back();
    ++(colours[chip] == 0 ? result.first : result.second);
    for (const CableId cable : graph.cables_of[chip]) {
      const ChipId next = graph.other_end(cable, chip);
      if (colours[next] == colours[chip]) result.works = false;
      if (colours[next] != kNone) continue;
      colours[next] = 1 - colours[chip];
      waiting.push_back(next);
    }
  }
  const auto unreached = std::ranges::find(colours, kNone);
  if (unreached != colours.end()) {
    result.unreached = static_cast<ChipId>(unreached - colours.begin());
  }
  return result;
}

std::optional<std::string> wrong_colouring(const Topology& topology, const CableGraph& graph) {
  const Colouring colouring = colour_chips(graph);
  if (colouring.unreached) {
    return fmt::format("no usable cables lead from chip {} to chip {}", topology.label(0),
                       topology.label(*colouring.unreached));
  }
  if (colouring.works && colouring.first != colouring.second) {
    return fmt::format(
        "its chips are of two kinds, {} and {} of them, and every usable cable joins one kind to "
        "the other, so a ring would have as many of each",
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
  return fmt::format("every way between two parts leads through chip {}",
                     topology.label(*std::ranges::min_element(chips)));
}

std::optional<std::string> obstacle(const Topology& topology, const CableGraph& graph) {
  for (const auto check : {lonely_chip, wrong_colouring, articulation}) {
    if (auto reason = check(topology, graph)) return reason;
  }
  return std::nullopt;
}

RingSearch ring_of_two(const Topology& topology, const CableGraph& graph) {
  if (!graph.ends.empty()) return found({0, 1});
  return no_ring(
      fmt::format("no usable cable joins chips {} and {}", topology.label(0), topology.label(1)));
}

RingSearch search_any_graph(const CableGraph& graph, std::uint64_t budget, std::uint64_t stated) {
  std::uint64_t share = budget / kJoiningShare;
  budget -= share;
  CoverSearch several = search_cover(graph, CoverKind::many_rings, share);
  if (several.exhausted) {
    return no_ring("its usable cables cannot give every chip two of them at once");
  }
  if (several.cover) {
    share = std::min(share, kJoiningStepsPerChip * graph.chip_count());
    if (const auto ring = join_rings(graph, std::move(*several.cover), share)) {
      return found(chips_along(*ring));
    }
  }
  const CoverSearch one = search_cover(graph, CoverKind::one_ring, budget);
  if (one.cover) return found(chips_along(*one.cover));
  if (one.exhausted) return no_ring("every possibility was tried");
  return {.reason = fmt::format("the search gave up after {} steps", stated)};
}

}  // namespace

RingSearch find_ring(const Topology& topology, const std::vector<Cable>& avoid,
                     const std::optional<GridShape>& shape, std::uint64_t budget) {
  const CableGraph graph = usable_cables(topology, avoid);
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
