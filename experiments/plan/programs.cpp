#include "experiments/plan/programs.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/input/nearest.hpp"
#include "experiments/config/algorithm.hpp"
#include "experiments/config/arithmetic_json.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/plan/program_cache.hpp"
#include "experiments/plan/ring.hpp"
#include "models/collectives/casts.hpp"
#include "models/collectives/in_switch_program.hpp"
#include "models/collectives/with_arithmetic.hpp"
#include "models/collectives/with_counts.hpp"
#include "models/hardware/workgroups.hpp"

namespace equarx::plan {
namespace {

using collectives::RankGrid;
using collectives::RankLayout;

/// The algorithms that can run here, as a clause; empty without any.
std::string runnable_text(const config::ExperimentConfig& config) {
  std::vector<std::string_view> names;
  for (const config::Algorithm other : config::tried_algorithms(config.collective))
    if (why_not(other, config).empty()) names.push_back(other->name);
  if (names.empty()) return {};
  names.push_back(config::algorithm_name(config::kAutomatic));
  return "; this topology can run " + input::list_of(names);
}

std::string runnable_without_ring_text(const config::ExperimentConfig& config) {
  std::vector<std::string_view> names;
  for (const config::Algorithm other : config::tried_algorithms(config.collective))
    if (other->layout != RankLayout::ring && why_not(other, config).empty())
      names.push_back(other->name);
  return input::list_of(names);
}

/// Infeasible if a grid has no ring. Other topologies, and links to avoid, require a search.
Expected<void> check_ring(const config::ExperimentConfig& config) {
  const config::TopologyConfig& topology = config.topology;
  if (!config::is_grid(topology) || !topology.avoid.empty() || topology.network) return {};
  const Expected<Ring> ring = grid_ring(topology.shape);
  if (ring) return {};
  return infeasible(ring.error().pointer,
                    fmt::format("{}; or an algorithm that needs no ring: {}", ring.error().reason,
                                runnable_without_ring_text(config)));
}

/// Axes of a torus longer than one chip.
std::vector<std::uint32_t> long_axes(const topology::GridShape& shape) {
  std::vector<std::uint32_t> lengths;
  std::ranges::copy_if(shape.lengths, std::back_inserter(lengths),
                       [](std::uint32_t length) { return length > 1; });
  return lengths;
}

/// True for each long axis that is folded: those without wraparound (see place_on_grid() in
/// placement.cpp).
std::vector<bool> folded_axes(const topology::GridShape& shape) {
  std::vector<bool> folded;
  for (std::size_t axis = 0; axis < shape.lengths.size(); ++axis)
    if (shape.lengths[axis] > 1)
      folded.push_back(shape.lengths[axis] > 2 && !shape.wraparound[axis]);
  return folded;
}

/// Why a switch cannot form sums; empty if it can.
std::string why_not_in_switch(const config::ExperimentConfig& config) {
  if (config.topology.kind != config::TopologyKind::on_switch || config.topology.network)
    return "sums in a switch; it needs all chips on one (\"topology\": {\"switch\": 8})";
  if (config.chip.switch_efficiency.value == 0.0)
    return fmt::format("sums in the switch, and that of {} does not add (no switch_efficiency)",
                       config.chip.name);
  if (config.topology.chips < collectives::kFewestRanksInSwitch)
    return fmt::format("sums in the switch and needs at least {} chips",
                       collectives::kFewestRanksInSwitch);
  return {};
}

/// Why chips have no links to neighbours; empty if they have.
std::string why_not_on_graph(const config::TopologyConfig& topology) {
  if (topology.kind == config::TopologyKind::on_switch)
    return "needs links between chips, and a switch has none; use \"fully-connected\"";
  const std::string obstacle = config::why_not_chip_by_chip(topology);
  return obstacle.empty() ? obstacle : "simulates every chip, and the topology " + obstacle;
}

/// The links of the chips, which are the ranks.
collectives::RankGraph graph_of(const config::ExperimentConfig& config) {
  const auto planned = config.topology.planned
                           ? config.topology.planned
                           : std::make_shared<const config::PlannedTopology>(
                                 config::plan_topology(config.topology, config.chip));
  std::vector<std::pair<collectives::Rank, collectives::Rank>> edges;
  for (topology::LinkId id = 0; id < planned->graph.link_count(); ++id) {
    const topology::Link link = planned->graph.link(id);
    if (link.from < link.to) edges.emplace_back(link.from, link.to);
  }
  return {planned->graph.chip_count(), edges};
}

/// Why the topology has no nodes of chips on a switch; empty if it has.
std::string why_not_in_nodes(const config::ExperimentConfig& config) {
  if (config.topology.kind != config::TopologyKind::on_switch)
    return "is for nodes of chips on a switch (\"topology\": {\"switch\": 8, \"network\": ...})";
  if (config.of_step)
    return "has concurrent streams on every chip, which are not modelled in steps";
  return {};
}

/// True for a ring through slices of one chip each, over the network.
bool is_ring_of_slices(config::Algorithm algorithm, const config::TopologyConfig& topology) {
  return algorithm->layout == RankLayout::ring && topology.network &&
         config::count_chips_of_slice(topology) == 1;
}

}  // namespace

bool is_considered(config::Algorithm algorithm, const config::TopologyConfig& topology) {
  if (is_ring_of_slices(algorithm, topology)) return false;
  const bool needs_switch = algorithm->in_switch || algorithm->layout == RankLayout::nodes;
  return !needs_switch || topology.kind == config::TopologyKind::on_switch;
}

std::string why_not(config::Algorithm algorithm, const config::ExperimentConfig& config) {
  const std::uint32_t chips = config::count_chips(config.topology);
  if (algorithm->layout != RankLayout::ring && !config.topology.avoid.empty())
    return "cannot avoid the links of /topology/avoid, as a ring can";
  if (algorithm->in_switch) {
    const std::string obstacle = why_not_in_switch(config);
    if (!obstacle.empty()) return obstacle;
  }
  if (algorithm->layout == RankLayout::nodes) {
    const std::string obstacle = why_not_in_nodes(config);
    if (!obstacle.empty()) return obstacle;
  }
  if (algorithm->layout == RankLayout::graph) {
    const std::string obstacle = why_not_on_graph(config.topology);
    if (!obstacle.empty()) return obstacle;
  }
  const bool of_slices = collectives::is_of_slices(algorithm->layout);
  if (of_slices && !config.topology.network)
    return "is for slices that a network joins (/topology/network)";
  if (config.topology.network && !of_slices && algorithm->layout != RankLayout::any &&
      !is_ring_of_slices(algorithm, config.topology))
    return "does not run across a network";
  if (of_slices && config::count_chips_of_slice(config.topology) == 1)
    return "reduces within slices first, but these have one chip each";
  const bool on_axes =
      algorithm->layout == RankLayout::grid || algorithm->layout == RankLayout::slices_of_grids;
  if (on_axes && !config::is_grid(config.topology))
    return "needs a grid of chips: a slice, mesh, torus or ring";
  if (algorithm->layout == RankLayout::hypercube && !std::has_single_bit(chips))
    return fmt::format("needs a power of two chips, but there are {}", chips);
  return "";
}

using Lengths = std::vector<std::uint32_t>;

/// Lengths above 1 along which the chips of some slices are numbered.
Lengths numbering_of(const config::TopologyConfig& topology) {
  if (!topology.numbering.empty()) return topology.numbering;
  Lengths lengths = {topology.network->slices, config::count_chips_of_slice(topology)};
  std::erase(lengths, 1U);
  return lengths;
}

/// Those of slices and of the chips of a slice.
std::vector<Lengths> factors_of_slices(const config::TopologyConfig& topology) {
  std::vector<Lengths> factors(2);
  std::uint32_t slices = 1;
  for (const std::uint32_t length : numbering_of(topology)) {
    factors[slices < topology.network->slices ? 0 : 1].push_back(length);
    slices *= length;
  }
  return factors;
}

Expected<RankGrid> rank_grid(config::Algorithm algorithm, const config::ExperimentConfig& config,
                             const std::string& pointer) {
  const std::uint32_t chips = config::count_chips(config.topology);
  if (chips < 2) return infeasible("/topology", "a collective needs at least two chips");
  const std::string obstacle = why_not(algorithm, config);
  if (!obstacle.empty())
    return infeasible(pointer,
                      fmt::format("'{}' {}{}", algorithm->name, obstacle, runnable_text(config)));
  switch (algorithm->layout) {
    case RankLayout::grid: return RankGrid(long_axes(config.topology.shape));
    case RankLayout::hypercube: {
      const auto axes = static_cast<std::size_t>(std::countr_zero(chips));
      return RankGrid(std::vector<std::uint32_t>(axes, 2));
    }
    case RankLayout::ring: return check_ring(config).map([&] { return RankGrid({chips}); });
    case RankLayout::slices_of_grids: {
      std::vector<std::uint32_t> lengths = long_axes(config.topology.shape);
      lengths.insert(lengths.begin(), config.topology.network->slices);
      return RankGrid(std::move(lengths), {factors_of_slices(config.topology).front()});
    }
    case RankLayout::slices:
      return RankGrid(
          {config.topology.network->slices, config::count_chips_of_slice(config.topology)},
          factors_of_slices(config.topology));
    case RankLayout::nodes:
      return RankGrid(
          {config.topology.network->slices, config::count_chips_of_slice(config.topology)});
    case RankLayout::graph: break;
    case RankLayout::any:
      if (algorithm->by_slices && config.topology.network)
        return RankGrid({chips}, {numbering_of(config.topology)});
  }
  return RankGrid({chips});
}

std::uint32_t rows_of_tiles(const config::CollectiveConfig& collective,
                            const config::ExperimentConfig& config) {
  const std::optional<hardware::Workgroups> workgroups = hardware::workgroups(config.chip);
  if (!workgroups || !collective.algorithm->in_tiles || config.of_step) return 0;
  return static_cast<std::uint32_t>(workgroups->rows(config.tensor.bytes()));
}

collectives::ProgramRequest program_request(const config::CollectiveConfig& collective,
                                            const RankGrid& grid,
                                            const config::ExperimentConfig& config) {
  const numerics::ElementFormat dtype = config.tensor.dtype;
  const RankLayout layout = collective.algorithm->layout;
  const bool on_axes = layout == RankLayout::grid || layout == RankLayout::slices_of_grids;
  const auto format = [&](collectives::Phase phase) {
    return config::wire_format(collective, phase, dtype);
  };
  return {.collective = config.collective,
          .grid = grid,
          .elements = config.tensor.elements,
          .dtype = config::tensor_type(collective, dtype),
          .ring = collective.ring,
          .reduce_scatter = format(collectives::Phase::reduce_scatter),
          .all_gather = format(collectives::Phase::all_gather),
          .cut = {collective.minishards, collective.microshards, collective.elements_per_scale,
                  collective.sizes},
          .reduce_scatter_between = format(collectives::Phase::reduce_scatter_between),
          .all_gather_between = format(collectives::Phase::all_gather_between),
          .folded = on_axes ? folded_axes(config.topology.shape) : std::vector<bool>{},
          .folded_rate = config.chip.shared_link_efficiency.value,
          .rows = rows_of_tiles(collective, config),
          .rows_at_once = static_cast<std::uint32_t>(config.chip.workgroups_per_unit.value),
          .order = collective.arithmetic.order,
          .moves_within_first = config.tensor.counts && config.tensor.counts->routing.direction ==
                                                            experts::Direction::combine,
          .uploads = collective.uploads,
          .graph = layout == RankLayout::graph ? graph_of(config) : collectives::RankGraph{}};
}

collectives::Program make_program(const config::CollectiveConfig& collective, const RankGrid& grid,
                                  const config::ExperimentConfig& config) {
  collectives::Program program = collectives::with_arithmetic(
      program_cache().copy(collective.algorithm, program_request(collective, grid, config)),
      config::arithmetic_of(collective.arithmetic,
                            config::tensor_type(collective, config.tensor.dtype)));
  if (config::has_casts(collective))
    program = collectives::with_casts(std::move(program), config.tensor.dtype, collective.hadamard,
                                      collective.casts);
  if (!config.tensor.counts) return program;
  return collectives::with_counts(std::move(program), config.tensor.counts->counts);
}

}  // namespace equarx::plan
