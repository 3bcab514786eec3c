#include "experiments/config/topology.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "topologies/fully_connected.hpp"
#include "topologies/switch.hpp"

namespace equarx::config {
namespace {

/// Building larger machines takes impractically long.
constexpr std::uint32_t kMostChips = 1 << 17;

PlannedTopology with_speeds(topology::Topology graph, const LinkSpeed& speed) {
  const std::vector<LinkSpeed> links(graph.link_count(), speed);
  return {std::move(graph), std::nullopt, links};
}

PlannedTopology plan_grid(const topology::GridShape& shape, const LinkSpeed& speed) {
  PlannedTopology planned = with_speeds(topology::make_grid(shape), speed);
  planned.shape = shape;
  return planned;
}

PlannedTopology plan_graph(const GraphConfig& config, const LinkSpeed& speed) {
  std::vector<topology::Cable> cables;
  std::vector<LinkSpeed> links;
  for (const GraphLink& link : config.links) {
    cables.push_back(link.cable);
    const LinkSpeed own{link.rate.value_or(speed.rate), link.latency_s.value_or(speed.latency_s)};
    links.insert(links.end(), {own, own});  // one for each direction
  }
  const auto chips = static_cast<std::uint32_t>(config.chips.size());
  return {topology::Topology(chips, cables, config.chips), std::nullopt, std::move(links)};
}

/// Ports with the rate of all links of a chip.
PlannedTopology plan_switch(std::uint32_t chips, const hardware::Chip& chip) {
  PlannedTopology planned =
      with_speeds(topology::make_switch(chips), {chip.links.value * chip.link_rate(), 0.0});
  for (topology::LinkId to_switch = 0; to_switch < planned.links.size(); to_switch += 2)
    planned.links[to_switch].latency_s = chip.hop_latency.value;
  return planned;
}

/// Replicates the slice: its chip (1,0) becomes 0:(1,0), 1:(1,0), ... Switches follow all chips.
PlannedTopology replicate(PlannedTopology slice, std::uint32_t slices) {
  const std::uint32_t chips = slice.graph.chip_count();
  const std::uint32_t switches = slice.graph.node_count() - chips;
  std::vector<topology::Cable> cables;
  std::vector<std::string> labels(slices * std::size_t{slice.graph.node_count()});
  std::vector<LinkSpeed> links;
  for (std::uint32_t i = 0; i < slices; ++i) {
    const auto replica = [&](topology::ChipId node) {
      return node < chips ? i * chips + node : slices * chips + i * switches + node - chips;
    };
    for (topology::LinkId id = 0; id < slice.graph.link_count(); id += 2) {
      const topology::Link link = slice.graph.link(id);
      cables.push_back({replica(link.from), replica(link.to)});
    }
    for (topology::ChipId node = 0; node < slice.graph.node_count(); ++node)
      labels[replica(node)] = fmt::format("{}:{}", i, slice.graph.label(node));
    links.insert(links.end(), slice.links.begin(), slice.links.end());
  }
  topology::Topology graph(slices * chips, cables, std::move(labels), slices * switches);
  return {std::move(graph), std::nullopt, std::move(links),
          std::make_shared<const PlannedTopology>(std::move(slice))};
}

}  // namespace

std::uint32_t count_chips(const TopologyConfig& config) {
  const std::uint32_t chips = count_chips_of_slice(config);
  return config.network ? chips * config.network->slices : chips;
}

std::uint32_t count_chips_of_slice(const TopologyConfig& config) {
  if (joins_all_alike(config)) return config.chips;
  if (config.kind == TopologyKind::file)
    return static_cast<std::uint32_t>(config.graph.chips.size());
  return input::at(kTopologyPointer, [&] { return topology::chip_count(config.shape); });
}

bool is_grid(const TopologyConfig& config) {
  return !joins_all_alike(config) && config.kind != TopologyKind::file;
}

bool joins_all_alike(const TopologyConfig& config) {
  return config.kind == TopologyKind::fully_connected || config.kind == TopologyKind::on_switch;
}

std::string why_not_chip_by_chip(const TopologyConfig& config) {
  const std::uint32_t chips = count_chips(config);
  if (chips <= kMostChips) return {};
  return fmt::format("has {} chips; at most {} can be simulated chip by chip", chips, kMostChips);
}

const PlannedTopology& planned_topology(TopologyConfig& config, const hardware::Chip& chip) {
  if (!config.planned)
    config.planned = std::make_shared<const PlannedTopology>(plan_topology(config, chip));
  return *config.planned;
}

namespace {

PlannedTopology plan_slice(const TopologyConfig& config, const hardware::Chip& chip) {
  const LinkSpeed speed{chip.link_rate(), chip.hop_latency.value};
  switch (config.kind) {
    case TopologyKind::slice:
    case TopologyKind::mesh:
    case TopologyKind::torus:
    case TopologyKind::ring: return plan_grid(config.shape, speed);
    case TopologyKind::fully_connected:
      return with_speeds(topology::make_fully_connected(config.chips), speed);
    case TopologyKind::on_switch: return plan_switch(config.chips, chip);
    case TopologyKind::file: return plan_graph(config.graph, speed);
  }
  throw std::logic_error("unknown kind of topology");
}

std::string slice_text(const TopologyConfig& config) {
  switch (config.kind) {
    case TopologyKind::slice: return "slice " + topology::format_lengths(config.shape.lengths);
    case TopologyKind::mesh: return "mesh " + topology::format_lengths(config.shape.lengths);
    case TopologyKind::torus: return "torus " + topology::format_lengths(config.shape.lengths);
    case TopologyKind::ring: return "ring";
    case TopologyKind::fully_connected: return "fully connected";
    case TopologyKind::on_switch: return "switch";
    case TopologyKind::file: return "graph " + config.graph.name;
  }
  throw std::logic_error("unknown kind of topology");
}

}  // namespace

PlannedTopology plan_topology(const TopologyConfig& config, const hardware::Chip& chip) {
  const std::string obstacle = why_not_chip_by_chip(config);
  if (!obstacle.empty()) throw input::InputError(kTopologyPointer, obstacle);
  PlannedTopology planned = plan_slice(config, chip);
  if (!config.network) return planned;
  return replicate(std::move(planned), config.network->slices);
}

std::size_t links_of_chip(const TopologyConfig& config, const hardware::Chip& chip) {
  if (config.kind == TopologyKind::on_switch) return static_cast<std::size_t>(chip.links.value);
  if (config.kind == TopologyKind::fully_connected) return config.chips - 1;
  std::size_t links = 0;
  if (config.kind == TopologyKind::file) {
    std::vector<std::size_t> by_chip(config.graph.chips.size());
    for (const GraphLink& link : config.graph.links)
      for (const topology::ChipId chip : {link.cable.first, link.cable.second})
        links = std::max(links, ++by_chip[chip]);
    return links;
  }
  for (const std::uint32_t length : config.shape.lengths)
    links += std::min<std::size_t>(length - 1, 2);
  return links;
}

std::string topology_text(const TopologyConfig& config) {
  if (!config.network) return slice_text(config);
  return fmt::format("{} x {}", config.network->slices, slice_text(config));
}

}  // namespace equarx::config
