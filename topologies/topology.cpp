#include "topologies/topology.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace equarx::topology {
namespace {

/// Position of the link to chip `to` in a sorted list of outgoing links; its insertion point if
/// absent.
auto position_of(const std::vector<Link>& links, auto& out_links, ChipId to) {
  return std::ranges::lower_bound(out_links, to, {}, [&](LinkId id) { return links[id].to; });
}

}  // namespace

Topology::Topology(std::uint32_t chip_count, const std::vector<Cable>& cables,
                   std::vector<std::string> labels, std::uint32_t switches) {
  if (chip_count == 0) {
    throw std::invalid_argument("a topology of 0 chips; give it at least 1 chip");
  }
  const std::uint32_t nodes = chip_count + switches;
  if (!labels.empty() && labels.size() != nodes) {
    throw std::invalid_argument(fmt::format(
        "{} labels for {} chips; label every chip or none of them", labels.size(), nodes));
  }
  const auto graph = std::make_shared<Graph>();
  graph_ = graph;
  graph->chips = chip_count;
  graph->labels = std::move(labels);
  for (ChipId chip = static_cast<ChipId>(graph->labels.size()); chip < nodes; ++chip)
    graph->labels.push_back(std::to_string(chip));
  graph->out_links.resize(nodes);
  graph->links.reserve(2 * cables.size());
  for (const Cable& cable : cables) {
    require_chip(cable.first);
    require_chip(cable.second);
    add_link(*graph, cable.first, cable.second);
    add_link(*graph, cable.second, cable.first);
  }
}

void Topology::add_link(Graph& graph, ChipId from, ChipId to) const {
  if (from == to) {
    throw std::invalid_argument(fmt::format(
        "a link joins chip {} to itself; a link must join two different chips", label(from)));
  }
  std::vector<LinkId>& out_links = graph.out_links[from];
  const auto position = position_of(graph.links, out_links, to);
  if (position != out_links.end() && graph.links[*position].to == to) {
    throw std::invalid_argument(fmt::format(
        "two links join chips {} and {}; list each link once, it carries both directions",
        label(from), label(to)));
  }
  out_links.insert(position, static_cast<LinkId>(graph.links.size()));
  graph.links.push_back({from, to});
}

std::uint32_t Topology::chip_count() const { return graph_->chips; }

std::uint32_t Topology::node_count() const {
  return static_cast<std::uint32_t>(graph_->out_links.size());
}

std::uint32_t Topology::link_count() const {
  return static_cast<std::uint32_t>(graph_->links.size());
}

Link Topology::link(LinkId id) const { return graph_->links.at(id); }

std::optional<LinkId> Topology::find_link(ChipId from, ChipId to) const {
  const std::vector<LinkId>& links = out_links(from);
  require_chip(to);
  const auto position = position_of(graph_->links, links, to);
  const bool found = position != links.end() && graph_->links[*position].to == to;
  return found ? std::optional(*position) : std::nullopt;
}

const std::vector<LinkId>& Topology::out_links(ChipId chip) const {
  require_chip(chip);
  return graph_->out_links[chip];
}

const std::string& Topology::label(ChipId chip) const {
  require_chip(chip);
  return graph_->labels[chip];
}

void Topology::require_chip(ChipId chip) const {
  if (chip >= node_count()) {
    throw std::invalid_argument(
        fmt::format("chip {} does not exist; chips are 0 to {}", chip, chip_count() - 1));
  }
}

}  // namespace equarx::topology
