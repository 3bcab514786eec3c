#include "experiments/inspect/topology.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/topology_json.hpp"
#include "experiments/plan/ring.hpp"
#include "topologies/drawing.hpp"

namespace equarx::inspect {
namespace {

using topology::RingOutcome;

topology::Bisection bisect(const config::PlannedTopology& topology) {
  if (topology.shape) {
    const double rate = topology.links.empty() ? 0.0 : topology.links.front().rate;
    return topology::bisection(*topology.shape, rate);
  }
  std::vector<double> rates;
  for (std::size_t id = 0; id < topology.links.size(); id += 2)
    rates.push_back(topology.links[id].rate);
  return topology::bisection(topology.graph, rates);
}

/// Range of a property over all links.
struct Range {
  double least = 0.0;
  double most = 0.0;
};

Range range_of(const std::vector<config::LinkSpeed>& links, double config::LinkSpeed::*property) {
  if (links.empty()) return {};
  const auto [least, most] = std::ranges::minmax_element(links, {}, property);
  return {(*least).*property, (*most).*property};
}

std::string range_text(const Range& range, units::Dimension dimension) {
  const std::string least = units::format_short(range.least, dimension);
  if (range.least == range.most) return least;
  return fmt::format("{} to {}", least, units::format_short(range.most, dimension));
}

std::string axes_text(const topology::GridShape& shape) {
  std::vector<std::string> axes;
  for (std::size_t axis = 0; axis < shape.lengths.size(); ++axis)
    axes.push_back(fmt::format("{}{}", shape.lengths[axis],
                               topology::has_wraparound_links(shape, axis) ? " (wraps)" : ""));
  return fmt::format("{}", fmt::join(axes, " x "));
}

std::string degree_text(const topology::DegreeRange& degree) {
  if (degree.least == degree.most) return fmt::format("{}", degree.least);
  return fmt::format("{} to {}", degree.least, degree.most);
}

std::string bisection_text(const topology::Bisection& bisection) {
  return fmt::format("{}{} one way, over {} link{}{}", bisection.exact ? "" : "at most ",
                     units::format_short(bisection.weight, units::Dimension::bandwidth),
                     bisection.cables, bisection.cables == 1 ? "" : "s",
                     bisection.exact ? " (exact)" : " (best cut found)");
}

std::string_view outcome_name(RingOutcome outcome) {
  switch (outcome) {
    case RingOutcome::found: return "found";
    case RingOutcome::none: return "none";
    case RingOutcome::not_found: return "not found";
  }
  throw std::logic_error("unknown outcome of a ring search");
}

std::string ring_text(const TopologyReport& report) {
  std::string text{outcome_name(report.ring.outcome)};
  if (report.ring.outcome != RingOutcome::found) text += ": " + report.ring.reason;
  const std::size_t avoided = report.config.avoid.size();
  if (avoided == 0) return text;
  return fmt::format("{} (without {} link{})", text, avoided, avoided == 1 ? "" : "s");
}

std::string network_text(const config::NetworkConfig& network) {
  const std::string owner =
      network.chips_per_port == 1 ? "chip" : fmt::format("{} chips", network.chips_per_port);
  return fmt::format("joins {} slices: {} each way and {} per {}", network.slices,
                     units::format_short(network.bandwidth.value, units::Dimension::bandwidth),
                     units::format_short(network.latency.value, units::Dimension::time), owner);
}

std::string title(const TopologyReport& report) {
  return fmt::format("{} of {}, {} chip{}{}", config::topology_text(report.config), report.hardware,
                     report.topology.graph.chip_count(),
                     report.topology.graph.chip_count() == 1 ? "" : "s",
                     report.config.network ? " each" : "");
}

input::Json ring_json(const TopologyReport& report) {
  input::Json json = {{"outcome", outcome_name(report.ring.outcome)}};
  if (report.ring.outcome != RingOutcome::found) {
    json["reason"] = report.ring.reason;
    return json;
  }
  for (const topology::ChipId chip : report.ring.ring)
    json["chips"].push_back(report.topology.graph.label(chip));
  return json;
}

input::Json range_json(const Range& range) {
  return {{"least", range.least}, {"most", range.most}};
}

input::Json axes_json(const topology::GridShape& shape) {
  input::Json axes = input::Json::array();
  for (std::size_t axis = 0; axis < shape.lengths.size(); ++axis)
    axes.push_back({{"length", shape.lengths[axis]},
                    {"wraparound", topology::has_wraparound_links(shape, axis)}});
  return axes;
}

/// On a switch no links join the chips of a ring.
std::vector<topology::ChipId> drawn_ring(const TopologyReport& report) {
  if (report.config.kind == config::TopologyKind::on_switch) return {};
  return report.ring.ring;
}

}  // namespace

TopologyReport report_topology(const config::TopologyConfig& config, const hardware::Chip& chip) {
  config::TopologyConfig slice = config;
  slice.network.reset();
  config::PlannedTopology planned = config::plan_topology(slice, chip);
  const auto degree = topology::degree_range(planned.graph);
  const auto distances =
      planned.shape ? topology::distances(*planned.shape) : topology::distances(planned.graph);
  const auto bisection = bisect(planned);
  auto ring = plan::search_ring(slice, planned);
  return {.hardware = chip.name,
          .config = config,
          .topology = std::move(planned),
          .degree = degree,
          .distances = distances,
          .bisection = bisection,
          .ring = std::move(ring)};
}

std::string to_table(const TopologyReport& report) {
  const config::PlannedTopology& topology = report.topology;
  std::vector<std::pair<std::string, std::string>> rows = {
      {"chips", fmt::format("{}", topology.graph.chip_count())},
      {"links", fmt::format("{}", topology.graph.link_count() / 2)}};
  if (topology.shape) rows.emplace_back("axes", axes_text(*topology.shape));
  rows.emplace_back("links per chip", degree_text(report.degree));
  if (!topology.links.empty()) {
    rows.emplace_back("link bandwidth",
                      range_text(range_of(topology.links, &config::LinkSpeed::rate),
                                 units::Dimension::bandwidth) +
                          " payload one way");
    rows.emplace_back("link latency",
                      range_text(range_of(topology.links, &config::LinkSpeed::latency_s),
                                 units::Dimension::time));
  }
  rows.emplace_back("diameter", fmt::format("{} hop{}", report.distances.diameter,
                                            report.distances.diameter == 1 ? "" : "s"));
  rows.emplace_back("average distance", fmt::format("{:.4g} hops", report.distances.average));
  rows.emplace_back("bisection bandwidth", bisection_text(report.bisection));
  rows.emplace_back("ring through all chips", ring_text(report));
  if (report.config.network) rows.emplace_back("network", network_text(*report.config.network));
  std::string text = title(report) + "\n\n";
  for (const auto& [name, value] : rows) text += fmt::format("  {:<24}{}\n", name, value);
  return text;
}

input::Json to_json(const TopologyReport& report) {
  const config::PlannedTopology& topology = report.topology;
  input::Json json = {{"hardware", report.hardware},
                      {"topology", config::topology_json(report.config)},
                      {"chips", topology.graph.chip_count()},
                      {"cables", topology.graph.link_count() / 2}};
  if (topology.shape) json["axes"] = axes_json(*topology.shape);
  json["cables_per_chip"] = {{"least", report.degree.least}, {"most", report.degree.most}};
  json["link_bytes_per_s"] = range_json(range_of(topology.links, &config::LinkSpeed::rate));
  json["link_latency_s"] = range_json(range_of(topology.links, &config::LinkSpeed::latency_s));
  json["diameter_hops"] = report.distances.diameter;
  json["average_distance_hops"] = report.distances.average;
  json["bisection"] = {{"bytes_per_s_one_way", report.bisection.weight},
                       {"cables", report.bisection.cables},
                       {"exact", report.bisection.exact}};
  json["ring"] = ring_json(report);
  return json;
}

std::string to_svg(const TopologyReport& report) {
  return input::at("", [&] {
    return topology::draw_svg(
        report.topology.graph,
        {.shape = report.topology.shape, .ring = drawn_ring(report), .caption = title(report)});
  });
}

}  // namespace equarx::inspect
