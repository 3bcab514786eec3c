#include "experiments/config/topology_json.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/nearest.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/chip_names.hpp"
#include "experiments/config/graph_json.hpp"
#include "experiments/config/machine_names.hpp"
#include "experiments/config/machine_parameters.hpp"
#include "experiments/config/parameter_json.hpp"
#include "experiments/config/slices_json.hpp"
#include "experiments/config/topology.hpp"
#include "topologies/fully_connected.hpp"
#include "topologies/switch.hpp"

namespace equarx::config {
namespace {

std::vector<std::uint32_t> parse_lengths(const std::string& text, const std::string& pointer) {
  return input::at(pointer, [&] { return topology::parse_lengths(text); });
}

std::vector<std::uint32_t> read_lengths(input::ObjectReader& reader, std::string_view key) {
  return parse_lengths(reader.text(key), reader.pointer_to(key));
}

std::vector<bool> read_wraparound(input::ObjectReader& reader, std::size_t axes) {
  if (!reader.has("wraparound")) return std::vector<bool>(axes, true);
  const input::Json& values = reader.array("wraparound");
  std::vector<bool> wraparound;
  for (const input::Json& value : values) {
    if (!value.is_boolean()) break;
    wraparound.push_back(value.get<bool>());
  }
  if (wraparound.size() != axes || values.size() != axes)
    throw input::InputError(reader.pointer_to("wraparound"),
                            fmt::format("expected true or false for each of the {} axes", axes));
  return wraparound;
}

std::uint32_t read_chip_count(input::ObjectReader& reader, std::string_view key,
                              std::uint32_t most) {
  return static_cast<std::uint32_t>(reader.integer(key, 1, most));
}

/// Neighbours of a chip, as many as fit in a message.
std::string neighbours_of(const topology::Topology& graph, topology::ChipId chip) {
  constexpr std::size_t kMostNamed = 6;
  const std::vector<topology::LinkId>& links = graph.out_links(chip);
  std::vector<std::string_view> names;
  for (const topology::LinkId link : links) names.push_back(graph.label(graph.link(link).to));
  return names.empty() ? "no chip" : input::list_of(names, kMostNamed);
}

/// Axis lengths of an accelerator type of this chip, or of the chip that it overrides.
std::vector<std::uint32_t> lengths_of(const AcceleratorType& type, const std::string& text,
                                      const hardware::Chip& chip, const std::string& pointer) {
  if (chip.name != type.chip && !chip.name.starts_with(fmt::format("{} (", type.chip)))
    throw input::InputError(
        pointer,
        fmt::format("'{}' is a slice of {}, not of {}; write the shape of a slice, like \"4x2\"",
                    text, type.chip, chip.name));
  return input::at(pointer, [&] { return slice_of(type, chip.slices); });
}

topology::GridShape read_slice(input::ObjectReader& reader, const hardware::Chip& chip) {
  const hardware::SliceLengths lengths =
      slice_lengths(reader.text("slice"), chip, reader.pointer_to("slice"));
  return {lengths, hardware::wraparound(chip.slices, lengths)};
}

TopologyConfig read_kind(input::ObjectReader& reader, const hardware::Chip& chip) {
  const std::string_view kind = input::exactly_one(reader, kTopologyKinds.all(), kTopologyPointer);
  TopologyConfig config;
  if (kind.empty()) {
    reader.finish();  // a misspelt kind is an unknown key
    throw input::InputError(kTopologyPointer,
                            fmt::format("needs one of {}", input::list_of(kTopologyKinds.all())));
  }
  config.kind = static_cast<TopologyKind>(std::ranges::find(kTopologyKinds.all(), kind) -
                                          kTopologyKinds.all().begin());
  switch (config.kind) {
    case TopologyKind::slice: config.shape = read_slice(reader, chip); break;
    case TopologyKind::mesh:
      config.shape.lengths = read_lengths(reader, kind);
      config.shape.wraparound.assign(config.shape.lengths.size(), false);
      break;
    case TopologyKind::torus:
      config.shape.lengths = read_lengths(reader, kind);
      config.shape.wraparound = read_wraparound(reader, config.shape.lengths.size());
      break;
    case TopologyKind::ring:
      config.shape = {{read_chip_count(reader, kind, topology::kMaxChips)}, {true}};
      break;
    case TopologyKind::fully_connected:
      config.chips = read_chip_count(reader, kind, topology::kMaxFullyConnected);
      break;
    case TopologyKind::on_switch:
      config.chips = static_cast<std::uint32_t>(reader.integer(kind, 2, topology::kMaxOnSwitch));
      reader.reject("avoid", "is for links between chips, which a switch has none of; remove it");
      break;
    case TopologyKind::file:
      config.file = reader.text(kind);
      config.graph = load_graph(config.file, reader.pointer_to(kind));
      break;
  }
  return config;
}

std::vector<AvoidedCable> read_avoided(input::ObjectReader& reader, TopologyConfig& config,
                                       const hardware::Chip& chip) {
  const topology::Topology& graph = planned_topology(config, chip).graph;
  const ChipNames names(graph);
  const input::Json& pairs = reader.array("avoid");
  std::vector<AvoidedCable> avoided;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::string pointer = reader.pointer_to("avoid", i);
    const topology::Cable cable = names.read_pair(pairs[i], pointer);
    const AvoidedCable named{graph.label(cable.first), graph.label(cable.second), cable};
    if (!graph.find_link(cable.first, cable.second))
      throw input::InputError(
          pointer, fmt::format("no link joins {} and {}; {} is joined to {}", named.first,
                               named.second, named.first, neighbours_of(graph, cable.first)));
    avoided.push_back(named);
  }
  return avoided;
}

/// Larger machines cannot be simulated chip by chip anyway.
constexpr std::uint32_t kMostSlices = 4096;

/// Reads a value, which is then exact, or an object like a hardware file's, with its uncertainty.
hardware::Parameter read_network_parameter(input::ObjectReader& reader, std::string_view key,
                                           const hardware::ParameterInfo& info) {
  const input::Json& json = reader.required(key, input::expected_quantity(info.dimension));
  if (json.is_object()) return read_parameter(reader.object(key), info);
  return {.value = read_parameter_value(json, reader.pointer_to(key), info), .source = {}};
}

/// Inverse of read_network_parameter().
input::Json network_parameter_json(const hardware::ParameterInfo& info,
                                   const hardware::Parameter& parameter) {
  if (parameter.source.empty()) return units::format(parameter.value, info.dimension);
  return parameter_json(info, parameter);
}

/// A parameter of the network.
struct NetworkParameter {
  const hardware::ParameterInfo& (*info)();

  void read(input::ObjectReader& reader, std::string_view key,
            hardware::Parameter& parameter) const {
    parameter = read_network_parameter(reader, key, info());
  }
  input::Json write(const hardware::Parameter& parameter) const {
    return network_parameter_json(info(), parameter);
  }
  input::Json schema() const {
    return input::one_of({input::Text{}.schema(), parameter_schema(info().kind)});
  }
};

const input::Table<NetworkConfig>& network_table() {
  static const input::Table<NetworkConfig> table{
      {"slices", &NetworkConfig::slices, input::Integer{2, kMostSlices}, "number, at least 2",
       input::kRequired},
      {"bandwidth", &NetworkConfig::bandwidth, NetworkParameter{network_bandwidth_info},
       R"(payload rate of a port per direction, like `"3.125 GB/s"`, or an )"
       "[object](topologies.md#networks)",
       input::kRequired},
      {"latency", &NetworkConfig::latency, NetworkParameter{network_latency_info},
       R"(from port to port, like `"10 us"`, or an [object](topologies.md#networks))",
       input::kRequired},
      {"chips_per_port", &NetworkConfig::chips_per_port, input::Integer{1, topology::kMaxChips},
       "consecutive chips sharing a port, such as a host's"},
  };
  return table;
}

NetworkConfig read_network(input::ObjectReader reader, const TopologyConfig& config) {
  NetworkConfig network;
  network_table().read(reader, network);
  const std::uint32_t chips = count_chips_of_slice(config);
  if (chips < 2)
    throw input::InputError(kTopologyPointer,
                            "a network joins slices of at least two chips; use \"ring\" or "
                            "\"fully-connected\" for single ones");
  if (chips > topology::kMaxChips / network.slices)
    throw input::InputError(
        reader.pointer_to("slices"),
        fmt::format("{} slices of {} chips are more than the {} chips of the largest machine",
                    network.slices, chips, topology::kMaxChips));
  const std::string port = reader.pointer_to("chips_per_port");
  input::read_integer(network.chips_per_port, port, 1, chips);
  if (chips % network.chips_per_port != 0)
    throw input::InputError(
        port, fmt::format("the {} chips of a slice cannot share ports by {}; use a divisor of {}",
                          chips, network.chips_per_port, chips));
  reader.finish();
  return network;
}

input::Json kind_json(const TopologyConfig& topology) {
  const std::string key{kTopologyKinds[topology.kind]};
  switch (topology.kind) {
    case TopologyKind::ring: return {{key, topology.shape.lengths.front()}};
    case TopologyKind::fully_connected:
    case TopologyKind::on_switch: return {{key, topology.chips}};
    case TopologyKind::file: return {{key, topology.file}};
    default: break;
  }
  input::Json json = {{key, topology::format_lengths(topology.shape.lengths)}};
  if (topology.kind == TopologyKind::torus) json["wraparound"] = topology.shape.wraparound;
  return json;
}

}  // namespace

hardware::SliceLengths slice_lengths(const std::string& text, const hardware::Chip& chip,
                                     const std::string& pointer) {
  constexpr std::size_t kProposals = 3;
  const auto type = accelerator_type(text);
  const hardware::SliceLengths lengths =
      type ? lengths_of(*type, text, chip, pointer) : parse_lengths(text, pointer);
  if (hardware::offers(chip.slices, lengths)) return lengths;
  const auto nearest = hardware::nearest_slices(chip.slices, lengths, kProposals);
  throw input::InputError(
      pointer, fmt::format("{} has no slice {}; its slices are {} (axes in any order){}; use "
                           "\"mesh\" or \"torus\" for a custom topology",
                           chip.name, topology::format_lengths(lengths), slices_text(chip.slices),
                           nearest.empty() ? "" : "; nearest: " + list_of_slices(nearest)));
}

TopologyConfig read_topology(input::ObjectReader reader, const hardware::Chip& chip) {
  TopologyConfig config = read_kind(reader, chip);
  if (reader.has("network")) {
    reader.reject("avoid",
                  "is for a ring through all chips, which a network cannot have; remove it");
    config.network = read_network(reader.object("network"), config);
  }
  if (reader.has("avoid")) config.avoid = read_avoided(reader, config, chip);
  reader.finish();
  return config;
}

input::Json topology_json(const TopologyConfig& topology) {
  input::Json json = kind_json(topology);
  if (topology.network) json["network"] = network_table().write(*topology.network);
  for (const AvoidedCable& cable : topology.avoid)
    json["avoid"].push_back({cable.first, cable.second});
  return json;
}

namespace {

/// Axis lengths, or an accelerator type.
input::Json slice_schema() {
  input::Json type = input::schema_of(
      R"({"x-definition": "acceleratorType", "type": "string", "pattern": "^[A-Za-z0-9 _-]+-0*[1-9][0-9]*$"})");
  return {{"anyOf", {lengths_schema(), type}}};
}

input::Json avoid_schema() { return {{"type", "array"}, {"items", input::schema_of(kChipPair)}}; }

}  // namespace

input::Json topology_schema() {
  using input::Elsewhere;
  constexpr input::Presence kOneOfSeven = input::otherwise("one of seven");
  static const input::Table<input::ReadElsewhere> table{
      {{"slice", Elsewhere{slice_schema},
        R"(`"4x2"`: an available slice, in any axis order, with the chip's wraparound )"
        "([hardware.md](hardware.md#slices)); or an accelerator type of Google Cloud with one such "
        R"(shape: `"v5litepod-8"` is 2x4 (v4, v5p and TPU7x count TensorCores: `"v5p-128"` is )"
        "4x4x4)",
        kOneOfSeven},
       {"mesh", Elsewhere{lengths_schema}, R"(`"4x4x4"`: grid without wraparound)", kOneOfSeven},
       {"torus", Elsewhere{lengths_schema},
        R"(`"4x4x4"`: grid with wraparound on all axes, or as in `wraparound`)", kOneOfSeven},
       {"ring", Elsewhere{input::Integer{1, topology::kMaxChips}}, "`8`: chips in a cycle",
        kOneOfSeven},
       {"fully-connected", Elsewhere{input::Integer{1, topology::kMaxFullyConnected}},
        "`8`: a link between each pair of chips, at most 1024", kOneOfSeven},
       {"switch", Elsewhere{input::Integer{2, topology::kMaxOnSwitch}},
        "`8`: a port with all links of each chip on a non-blocking switch, 2 to 1024", kOneOfSeven},
       {"file", Elsewhere{input::Text{}},
        R"(`"graph.json"`: any graph; path relative to the working directory)", kOneOfSeven},
       {"wraparound", Elsewhere{R"({"type": "array", "items": {"type": "boolean"}})"},
        "for `torus`: `[true, false, true]`, per axis", input::otherwise("all axes")},
       {"network", Elsewhere{input::Nested{network_table}},
        "joins several such slices or nodes ([topologies.md](topologies.md#networks))"},
       {"avoid", Elsewhere{avoid_schema},
        R"j(`[["(0,0)", "(0,1)"]]`: links that the ring must not use; `ring` and `equarx` only)j"}},
      {.rules = R"({
        "oneOf": [{"required": ["slice"]}, {"required": ["mesh"]}, {"required": ["torus"]},
                  {"required": ["ring"]}, {"required": ["fully-connected"]}, {"required": ["switch"]},
                  {"required": ["file"]}],
        "dependencies": {"wraparound": ["torus"]}})"}};
  return table.schema();
}

}  // namespace equarx::config
