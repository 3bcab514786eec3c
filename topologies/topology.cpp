#include "topologies/topology.hpp"

#include <stdexcept>
#include <utility>

#include <boost/range/iterator_range.hpp>
#include <fmt/format.h>

namespace equarx::topology {

Topology::Topology(std::uint32_t chip_count, const std::vector<Cable>& cables,
                   std::vector<std::string> labels) {
  if (chip_count == 0) {
    throw std::invalid_argument("a topology of 0 chips; give it at least 1 chip");
  }
  if (!labels.empty() && labels.size() != chip_count) {
    throw std::invalid_argument(fmt::format(
        "{} labels for {} chips; label every chip or none of them", labels.size(), chip_count));
  }
  const auto graph = std::make_shared<Graph>(chip_count);
  graph_ = graph;
  for (ChipId chip = 0; chip < chip_count; ++chip) {
    (*graph)[chip].label = labels.empty() ? std::to_string(chip) : std::move(labels[chip]);
  }
  links_.reserve(2 * cables.size());
  for (const Cable& cable : cables) {
    require_chip(cable.first);
    require_chip(cable.second);
    add_link(*graph, cable.first, cable.second);
    add_link(*graph, cable.second, cable.first);
  }
}

void Topology::add_link(Graph& graph, ChipId from, ChipId to) {
  if (from == to) {
    throw std::invalid_argument(fmt::format(
        "a cable joins chip {} to itself; a cable must join two different chips", label(from)));
  }
  const LinkProperties properties{static_cast<LinkId>(links_.size())};
  const bool added = boost::add_edge(from, to, properties, graph).second;
  if (!added) {
    throw std::invalid_argument(fmt::format(
        "two cables join chips {} and {}; list each cable once, it carries both directions",
        label(from), label(to)));
  }
  links_.push_back({from, to});
}

std::uint32_t Topology::chip_count() const {
  return static_cast<std::uint32_t>(boost::num_vertices(*graph_));
}

std::uint32_t Topology::link_count() const { return static_cast<std::uint32_t>(links_.size()); }

Link Topology::link(LinkId id) const { return links_.at(id); }

std::optional<LinkId> Topology::find_link(ChipId from, ChipId to) const {
  require_chip(from);
  require_chip(to);
  const auto [edge, found] = boost::edge(from, to, *graph_);
  return found ? std::optional((*graph_)[edge].id) : std::nullopt;
}

std::vector<LinkId> Topology::out_links(ChipId chip) const {
  require_chip(chip);
  std::vector<LinkId> links;
  for (const auto& edge : boost::make_iterator_range(boost::out_edges(chip, *graph_))) {
    links.push_back((*graph_)[edge].id);
  }
  return links;
}

const std::string& Topology::label(ChipId chip) const {
  require_chip(chip);
  return (*graph_)[chip].label;
}

void Topology::require_chip(ChipId chip) const {
  if (chip >= chip_count()) {
    throw std::invalid_argument(
        fmt::format("chip {} does not exist; chips are 0 to {}", chip, chip_count() - 1));
  }
}

}  // namespace equarx::topology
