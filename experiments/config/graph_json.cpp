#include "experiments/config/graph_json.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/input/pointer.hpp"
#include "experiments/config/chip_names.hpp"
#include "topologies/route.hpp"
#include "topologies/topology.hpp"

namespace equarx::config {
namespace {

/// Names appear in tables, pictures and the simulator, so they are restricted. A '>' would make the
/// names of link directions, "a->b", ambiguous.
bool is_plain(const std::string& name) {
  constexpr std::size_t kMostLetters = 32;
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:/(),+-";
  return !name.empty() && name.size() <= kMostLetters &&
         name.find_first_not_of(kAllowed) == std::string::npos;
}

std::string plain_name(const input::Json& value, const std::string& pointer) {
  if (!value.is_string() || !is_plain(value.get<std::string>()))
    throw input::InputError(pointer,
                            fmt::format("{} is not a name; use 1 to 32 letters, digits and "
                                        "._:/(),+-",
                                        value.dump()));
  return value.get<std::string>();
}

std::vector<std::string> numbered_chips(std::uint64_t count) {
  std::vector<std::string> names;
  for (std::uint64_t chip = 0; chip < count; ++chip) names.push_back(std::to_string(chip));
  return names;
}

/// Names of chips, or their number.
std::vector<std::string> read_chips(const input::Json& chips, const std::string& pointer) {
  if (!chips.is_array())
    return numbered_chips(input::read_integer(chips, pointer, 1, kMostGraphChips));
  if (chips.empty()) throw input::InputError(pointer, "is empty; name at least one chip");
  if (chips.size() > kMostGraphChips)
    throw input::InputError(
        pointer, fmt::format("has {} chips; use at most {}", chips.size(), kMostGraphChips));
  std::vector<std::string> names;
  std::map<std::string, std::size_t> indices;
  for (std::size_t i = 0; i < chips.size(); ++i) {
    const std::string element = input::pointer(pointer, i);
    names.push_back(plain_name(chips[i], element));
    const auto [first, fresh] = indices.emplace(names.back(), i);
    if (!fresh)
      throw input::InputError(
          element, fmt::format("'{}' is also the chip at {}; give each its own name", names.back(),
                               input::pointer(pointer, first->second)));
  }
  return names;
}

/// A name that appears in tables and pictures.
struct PlainName {
  void read(input::ObjectReader& reader, std::string_view key, std::string& name) const {
    name = plain_name(reader.required(key, "a name"), reader.pointer_to(key));
  }
  input::Json write(const std::string& name) const { return name; }
  input::Json schema() const {
    return input::schema_of(R"({"x-definition": "name", "type": "string",
                                "pattern": "^[A-Za-z0-9._:/(),+-]{1,32}$"})");
  }
};

/// The chips of a graph.
struct ChipList {
  void read(input::ObjectReader& reader, std::string_view key,
            std::vector<std::string>& chips) const {
    chips = read_chips(reader.required(key, "a number of chips, or a list of their names"),
                       reader.pointer_to(key));
  }
  input::Json write(const std::vector<std::string>& chips) const { return chips; }
  input::Json schema() const {
    return input::one_of({input::Integer{1, kMostGraphChips}.schema(),
                          {{"type", "array"},
                           {"minItems", 1},
                           {"maxItems", kMostGraphChips},
                           {"uniqueItems", true},
                           {"items", PlainName{}.schema()}}});
  }
};

const input::Table<GraphLink>& graph_link_table() {
  using input::Quantity, input::Sign, units::Dimension;
  static const input::Table<GraphLink> table{
      {"between", input::Elsewhere{kChipPair}, "the two chips", input::kRequired},
      {"bandwidth", &GraphLink::rate, Quantity{Dimension::bandwidth, Sign::positive},
       "**payload** per direction; the hardware's efficiency is not applied",
       input::otherwise("the hardware's, times its efficiency")},
      {"latency", &GraphLink::latency_s, Quantity{Dimension::time, Sign::not_negative},
       "one hop over this link", input::otherwise("the hardware's")},
  };
  return table;
}

GraphLink read_link(input::ObjectReader reader, const ChipNames& names) {
  GraphLink link;
  const input::Json& between = reader.required("between", "the names of two chips");
  const std::string pointer = reader.pointer_to("between");
  link.cable = names.read_pair(between, pointer);
  if (link.cable.first == link.cable.second)
    throw input::InputError(pointer, "joins a chip to itself; name two different chips");
  graph_link_table().read(reader, link);
  reader.finish();
  return link;
}

std::vector<GraphLink> read_links(input::ObjectReader& reader,
                                  const std::vector<std::string>& chips) {
  const input::Json& values = reader.array("links");
  const std::string pointer = reader.pointer_to("links");
  if (values.size() > kMostGraphLinks)
    throw input::InputError(
        pointer, fmt::format("has {} links; use at most {}", values.size(), kMostGraphLinks));
  const ChipNames names(chips);
  std::vector<GraphLink> links;
  std::map<std::pair<topology::ChipId, topology::ChipId>, std::size_t> indices;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string element = input::pointer(pointer, i);
    links.push_back(read_link({values[i], element}, names));
    const auto& [first, second] = links.back().cable;
    const auto [other, fresh] = indices.emplace(std::minmax(first, second), i);
    if (!fresh)
      throw input::InputError(
          element,
          fmt::format("joins '{}' and '{}' like {}; give one link, which "
                      "carries both directions",
                      chips[first], chips[second], input::pointer(pointer, other->second)));
  }
  return links;
}

input::Json links_schema() {
  input::Json schema = input::Objects{graph_link_table}.schema();
  schema["maxItems"] = kMostGraphLinks;
  return schema;
}

const input::Table<GraphConfig>& graph_table() {
  static const input::Table<GraphConfig> table{
      {"name", &GraphConfig::name, PlainName{},
       "up to 32 letters, digits and `._:/(),+-`, like the names of chips", input::kRequired},
      {"description", &GraphConfig::description, input::Text{}, "free text",
       input::otherwise("none")},
      {"chips", &GraphConfig::chips, ChipList{},
       "a list of names, or a number of chips, then named 0, 1, ...", input::kRequired},
      {"links", input::Elsewhere{links_schema}, "each link once, for both directions",
       input::kRequired},
  };
  return table;
}

void check_connected(const GraphConfig& graph, const std::string& pointer) {
  std::vector<topology::Cable> cables;
  for (const GraphLink& link : graph.links) cables.push_back(link.cable);
  const auto chips = static_cast<std::uint32_t>(graph.chips.size());
  const auto unreachable =
      topology::find_unreachable_chip(topology::Topology(chips, cables, graph.chips));
  if (unreachable)
    throw input::InputError(pointer,
                            fmt::format("no links lead from chip '{}' to chip '{}'; join the parts "
                                        "by a link",
                                        graph.chips.front(), graph.chips[*unreachable]));
}

}  // namespace

GraphConfig read_graph(const input::Json& json) {
  input::ObjectReader reader(json, "");
  GraphConfig graph;
  graph_table().read(reader, graph);
  graph.links = read_links(reader, graph.chips);
  reader.finish();
  check_connected(graph, reader.pointer_to("links"));
  return graph;
}

GraphConfig load_graph(const std::string& path, const std::string& pointer) {
  return input::read_named_file(
      path, pointer, [](const std::string& text) { return read_graph(input::parse_json(text)); });
}

input::Json graph_schema() { return graph_table().schema(); }

}  // namespace equarx::config
