#include "experiments/config/graph_json.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "experiments/config/chip_names.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/json_text.hpp"
#include "topologies/route.hpp"
#include "topologies/topology.hpp"

namespace equarx::config {
namespace {

/// Names go into tables, pictures and the simulator, so they are plain. A '>' would make names of
/// link directions, "a->b", ambiguous.
bool is_plain(const std::string& name) {
  constexpr std::size_t kMostLetters = 32;
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:/(),+-";
  return !name.empty() && name.size() <= kMostLetters &&
         name.find_first_not_of(kAllowed) == std::string::npos;
}

std::string plain_name(const input::Json& value, const std::string& place) {
  if (!value.is_string() || !is_plain(value.get<std::string>()))
    throw input::InputError(place, fmt::format("{} is not a name; use 1 to 32 letters, digits and "
                                               "._:/(),+-",
                                               value.dump()));
  return value.get<std::string>();
}

std::vector<std::string> numbered_chips(std::uint64_t count) {
  std::vector<std::string> names;
  for (std::uint64_t chip = 0; chip < count; ++chip) names.push_back(std::to_string(chip));
  return names;
}

std::vector<std::string> read_chips(input::ObjectReader& reader) {
  const input::Json& chips =
      reader.required("chips", "a number of chips, or a list of their names");
  const std::string place = reader.place_of("chips");
  if (!chips.is_array())
    return numbered_chips(input::read_integer(chips, place, 1, kMostGraphChips));
  if (chips.empty()) throw input::InputError(place, "is empty; name at least one chip");
  if (chips.size() > kMostGraphChips)
    throw input::InputError(
        place, fmt::format("has {} chips; use at most {}", chips.size(), kMostGraphChips));
  std::vector<std::string> names;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < chips.size(); ++i) {
    const std::string here = fmt::format("{}/{}", place, i);
    names.push_back(plain_name(chips[i], here));
    const auto [first, fresh] = places.emplace(names.back(), i);
    if (!fresh)
      throw input::InputError(
          here, fmt::format("'{}' is also the chip at {}/{}; give each its own name", names.back(),
                            place, first->second));
  }
  return names;
}

std::optional<double> read_rate(input::ObjectReader& reader) {
  if (!reader.has("bandwidth")) return std::nullopt;
  const double rate = reader.quantity("bandwidth", units::Dimension::bandwidth);
  if (rate <= 0.0) throw input::InputError(reader.place_of("bandwidth"), "must be above 0");
  return rate;
}

std::optional<double> read_latency(input::ObjectReader& reader) {
  if (!reader.has("latency")) return std::nullopt;
  const double latency_s = reader.quantity("latency", units::Dimension::time);
  if (latency_s < 0.0) throw input::InputError(reader.place_of("latency"), "must not be negative");
  return latency_s;
}

GraphLink read_link(input::ObjectReader reader, const ChipNames& names) {
  GraphLink link;
  const input::Json& between = reader.required("between", "the names of two chips");
  const std::string place = reader.place_of("between");
  link.cable = names.read_pair(between, place);
  if (link.cable.first == link.cable.second)
    throw input::InputError(place, "joins a chip to itself; name two different chips");
  link.rate = read_rate(reader);
  link.latency_s = read_latency(reader);
  reader.finish();
  return link;
}

std::vector<GraphLink> read_links(input::ObjectReader& reader,
                                  const std::vector<std::string>& chips) {
  const input::Json& values = reader.array("links");
  const std::string place = reader.place_of("links");
  if (values.size() > kMostGraphLinks)
    throw input::InputError(
        place, fmt::format("has {} links; use at most {}", values.size(), kMostGraphLinks));
  const ChipNames names(chips);
  std::vector<GraphLink> links;
  std::map<std::pair<topology::ChipId, topology::ChipId>, std::size_t> places;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string here = fmt::format("{}/{}", place, i);
    links.push_back(read_link({values[i], here}, names));
    const auto& [first, second] = links.back().cable;
    const auto [other, fresh] = places.emplace(std::minmax(first, second), i);
    if (!fresh)
      throw input::InputError(here,
                              fmt::format("joins '{}' and '{}' as {}/{} does; give one link, which "
                                          "carries both directions",
                                          chips[first], chips[second], place, other->second));
  }
  return links;
}

void check_connected(const GraphConfig& graph, const std::string& place) {
  std::vector<topology::Cable> cables;
  for (const GraphLink& link : graph.links) cables.push_back(link.cable);
  const auto chips = static_cast<std::uint32_t>(graph.chips.size());
  const auto unreachable =
      topology::find_unreachable_chip(topology::Topology(chips, cables, graph.chips));
  if (unreachable)
    throw input::InputError(place,
                            fmt::format("no links lead from chip '{}' to chip '{}'; join the parts "
                                        "by a link",
                                        graph.chips.front(), graph.chips[*unreachable]));
}

}  // namespace

GraphConfig read_graph(const input::Json& json) {
  input::ObjectReader reader(json, "");
  GraphConfig graph;
  graph.name = plain_name(reader.required("name", "a name"), reader.place_of("name"));
  if (reader.has("description")) graph.description = reader.text("description");
  graph.chips = read_chips(reader);
  graph.links = read_links(reader, graph.chips);
  reader.finish();
  check_connected(graph, reader.place_of("links"));
  return graph;
}

GraphConfig load_graph(const std::string& path, const std::string& place) {
  return input::read_named_file(
      path, place, [](const std::string& text) { return read_graph(input::parse_json(text)); });
}

}  // namespace equarx::config
