#include "experiments/plan/ring.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "topologies/ring.hpp"

namespace equarx::plan {
namespace {

std::string avoided_text(const std::vector<config::AvoidedCable>& avoid) {
  constexpr std::size_t kMostNamed = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(avoid.size(), kMostNamed); ++i)
    text += fmt::format("{}{} - {}", i == 0 ? "" : ", ", avoid[i].first, avoid[i].second);
  if (avoid.size() > kMostNamed) text += fmt::format(" and {} more", avoid.size() - kMostNamed);
  return text;
}

tl::unexpected<Infeasible> no_ring(const config::TopologyConfig& config,
                                   const topology::RingSearch& search) {
  const bool proved = search.outcome == topology::RingOutcome::none;
  const std::string around =
      config.avoid.empty() ? "" : fmt::format(" without the links {}", avoided_text(config.avoid));
  return infeasible(
      config::kTopologyPointer,
      fmt::format("no Hamiltonian ring {} on the {}{}: {}; {}", proved ? "exists" : "was found",
                  config::topology_text(config), around, search.reason,
                  config.avoid.empty() ? "use a topology that has one" : "avoid fewer links"));
}

}  // namespace

topology::RingSearch search_ring(const config::TopologyConfig& config,
                                 const config::PlannedTopology& topology) {
  std::vector<topology::Cable> avoid;
  for (const config::AvoidedCable& cable : config.avoid) avoid.push_back(cable.cable);
  return topology::find_ring(topology.graph, avoid, topology.shape);
}

Expected<Ring> grid_ring(const topology::GridShape& shape) {
  try {
    return topology::hamiltonian_ring(shape);
  } catch (const std::invalid_argument& error) {  // names the shapes that have one
    return infeasible(config::kTopologyPointer, error.what());
  }
}

Expected<Ring> plan_ring(const config::TopologyConfig& config,
                         const config::PlannedTopology& topology) {
  if (config.network) {  // slices of one chip each
    Ring ring(config.network->slices);
    std::iota(ring.begin(), ring.end(), topology::ChipId{0});
    return ring;
  }
  if (topology.shape && config.avoid.empty()) return grid_ring(*topology.shape);
  topology::RingSearch search = search_ring(config, topology);
  if (search.outcome != topology::RingOutcome::found) return no_ring(config, search);
  return std::move(search.ring);
}

}  // namespace equarx::plan
