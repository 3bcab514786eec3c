#include "experiments/config_json.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

#include "experiments/hardware_json.hpp"
#include "experiments/input_error.hpp"
#include "experiments/nearest.hpp"

namespace equarx::experiments {
namespace {

using numerics::BlockFormat;
using numerics::ElementFormat;

constexpr std::uint32_t kMostParts = 1U << 20;
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 48;

// The texts of enumerations, in the order of their values.
constexpr std::array<std::string_view, 2> kAlgorithms = {"ring", "equarx"};
constexpr std::array<std::string_view, 2> kRingStyles = {"full-loop", "semi-loop"};
constexpr std::array<std::string_view, 3> kQuantizedPhases = {"reduce-scatter", "all-gather",
                                                              "both"};
constexpr std::array<std::string_view, 3> kSimulationModes = {"auto", "full", "symmetric"};
constexpr std::array<std::string_view, 3> kDistributions = {"normal", "uniform", "heavy-tailed"};
constexpr std::array<std::string_view, 2> kRankValues = {"independent", "identical"};
constexpr std::array<std::string_view, 2> kSwitch = {"off", "on"};
constexpr std::array<std::string_view, 4> kTopologyKinds = {"slice", "mesh", "torus", "ring"};
constexpr std::array<std::string_view, 2> kTensorSizes = {"shape", "bytes"};
constexpr std::array kDtypes = {ElementFormat::fp32, ElementFormat::bf16};
constexpr std::array kPlainFormats = {ElementFormat::bf16, ElementFormat::fp32,
                                      ElementFormat::fp8_e4m3, ElementFormat::fp8_e5m2,
                                      ElementFormat::int8};
constexpr std::array kQuantizedFormats = {ElementFormat::int8, ElementFormat::fp8_e4m3,
                                          ElementFormat::fp8_e5m2};
constexpr std::array kScaleFormats = {numerics::ScaleFormat::fp32, numerics::ScaleFormat::bf16};
constexpr std::array kLayouts = {numerics::ScaleLayout::strided, numerics::ScaleLayout::contiguous};

/// A choice among values that have a name().
template <typename Enum, std::size_t N>
Enum choose(ObjectReader& reader, std::string_view key, const std::array<Enum, N>& values,
            Enum fallback) {
  if (!reader.has(key)) return fallback;
  std::array<std::string_view, N> names;
  std::ranges::transform(values, names.begin(), [](Enum value) { return numerics::name(value); });
  return values[reader.choice(key, names)];
}

/// The one key of `alternatives` that is there.
std::string_view exactly_one(ObjectReader& reader, std::span<const std::string_view> alternatives,
                             const std::string& place) {
  std::string_view found;
  for (const std::string_view key : alternatives) {
    if (!reader.has(key)) continue;
    if (!found.empty())
      throw InputError(place, fmt::format("has both '{}' and '{}'; give one of them", found, key));
    found = key;
  }
  return found;
}

// --- Topology

std::vector<std::uint32_t> read_lengths(ObjectReader& reader, std::string_view key) {
  const std::string text = reader.text(key);
  try {
    return topology::parse_lengths(text);
  } catch (const std::invalid_argument& error) {
    throw InputError(reader.place_of(key), error.what());
  }
}

std::vector<bool> read_wraparound(ObjectReader& reader, std::size_t axes) {
  if (!reader.has("wraparound")) return std::vector<bool>(axes, true);
  const Json& values = reader.array("wraparound");
  std::vector<bool> wraparound;
  for (const Json& value : values) {
    if (!value.is_boolean()) break;
    wraparound.push_back(value.get<bool>());
  }
  if (wraparound.size() != axes || values.size() != axes)
    throw InputError(reader.place_of("wraparound"),
                     fmt::format("expected true or false for each of the {} axes", axes));
  return wraparound;
}

std::string slice_names(const hardware::Chip& chip) {
  std::vector<std::string> names;
  for (const auto& slice : chip.slices) names.push_back(topology::format_lengths(slice));
  const std::vector<std::string_view> views(names.begin(), names.end());
  return list_of(views);
}

topology::GridShape read_slice(ObjectReader& reader, const hardware::Chip& chip) {
  topology::GridShape shape{.lengths = read_lengths(reader, "slice"), .wraparound = {}};
  if (!hardware::offers_slice(chip, shape.lengths))
    throw InputError(
        reader.place_of("slice"),
        fmt::format("{} has no slice {}; its slices are {} (axes in any order); use "
                    "\"mesh\" or \"torus\" for a machine that is not sold",
                    chip.name, topology::format_lengths(shape.lengths), slice_names(chip)));
  for (const std::uint32_t length : shape.lengths)
    shape.wraparound.push_back(length == chip.wraparound_length);
  return shape;
}

TopologyConfig read_topology(ObjectReader reader, const hardware::Chip& chip) {
  constexpr std::uint32_t kMostInRing = topology::kMaxChips;
  TopologyConfig config;
  const std::string place = "/topology";
  const std::string_view kind = exactly_one(reader, kTopologyKinds, place);
  if (kind == "slice") {
    config.kind = TopologyKind::slice;
    config.shape = read_slice(reader, chip);
  } else if (kind == "mesh") {
    config.kind = TopologyKind::mesh;
    config.shape.lengths = read_lengths(reader, kind);
    config.shape.wraparound.assign(config.shape.lengths.size(), false);
  } else if (kind == "torus") {
    config.kind = TopologyKind::torus;
    config.shape.lengths = read_lengths(reader, kind);
    config.shape.wraparound = read_wraparound(reader, config.shape.lengths.size());
  } else if (kind == "ring") {
    config.kind = TopologyKind::ring;
    config.shape = {{static_cast<std::uint32_t>(reader.integer(kind, 1, kMostInRing))}, {true}};
  }
  reader.finish();
  if (kind.empty())
    throw InputError(place, fmt::format("needs one of {}", list_of(kTopologyKinds)));
  return config;
}

// --- Tensor

std::vector<std::uint64_t> read_shape(ObjectReader& reader) {
  const Json& lengths = reader.array("shape");
  std::vector<std::uint64_t> shape;
  if (lengths.empty())
    throw InputError(reader.place_of("shape"), "is empty; give at least one length, like [4096]");
  std::uint64_t elements = 1;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::string place = fmt::format("{}/{}", reader.place_of("shape"), i);
    shape.push_back(read_integer(lengths[i], place, 1, kMostElements));
    if (shape.back() > kMostElements / elements)
      throw InputError(reader.place_of("shape"),
                       fmt::format("has more than {} elements in all", kMostElements));
    elements *= shape.back();
  }
  return shape;
}

std::uint64_t read_elements_from_bytes(ObjectReader& reader, ElementFormat dtype) {
  const double bytes = reader.quantity("bytes", units::Dimension::bytes);
  const double elements = bytes * 8.0 / static_cast<double>(numerics::element_bits(dtype));
  if (elements < 1.0 || elements > static_cast<double>(kMostElements) ||
      elements != std::floor(elements))
    throw InputError(reader.place_of("bytes"),
                     fmt::format("{} is not a positive whole number of {} elements",
                                 reader.text("bytes"), numerics::name(dtype)));
  return static_cast<std::uint64_t>(elements);
}

numerics::InputSpec read_values(ObjectReader reader) {
  numerics::InputSpec values;
  values.distribution =
      reader.choice_or("distribution", kDistributions, numerics::Distribution::normal);
  // JSON tools, the schema checker among them, hold integers with a sign.
  constexpr std::uint64_t kMostSeed = std::numeric_limits<std::int64_t>::max();
  if (reader.has("seed")) values.seed = reader.integer("seed", 0, kMostSeed);
  values.identical_ranks = reader.has("ranks") && reader.choice("ranks", kRankValues) == 1;
  reader.finish();
  return values;
}

TensorConfig read_tensor(ObjectReader reader) {
  TensorConfig tensor;
  tensor.dtype = choose(reader, "dtype", kDtypes, ElementFormat::bf16);
  const std::string_view size = exactly_one(reader, kTensorSizes, "/tensor");
  if (size == "bytes") {
    tensor.elements = read_elements_from_bytes(reader, tensor.dtype);
  } else if (size == "shape") {
    tensor.shape = read_shape(reader);
    tensor.elements = 1;
    for (const std::uint64_t length : tensor.shape) tensor.elements *= length;
  }
  if (reader.has("values")) tensor.values = read_values(reader.object("values"));
  reader.finish();
  if (size.empty())
    throw InputError("/tensor", "needs a size: \"shape\": [4096, 4096] or \"bytes\": \"32 MiB\"");
  return tensor;
}

// --- Collectives

std::optional<std::uint32_t> read_parts(ObjectReader& reader, std::string_view key) {
  if (!reader.has(key)) return std::nullopt;
  return static_cast<std::uint32_t>(reader.integer(key, 1, kMostParts));
}

/// Formats that a plain ring has, and a quantized one cannot have, deserve more than a list.
void check_has_scales(ObjectReader& reader) {
  if (!reader.has("format")) return;
  for (const ElementFormat plain : {ElementFormat::bf16, ElementFormat::fp32})
    if (reader.text("format") == numerics::name(plain))
      throw InputError(
          reader.place_of("format"),
          fmt::format("'{}' is not quantized; use \"algorithm\": \"ring\" for it, or a "
                      "format with scales, like \"int8\"",
                      numerics::name(plain)));
}

BlockFormat read_block_format(ObjectReader& reader) {
  check_has_scales(reader);
  BlockFormat format{.element = choose(reader, "format", kQuantizedFormats, ElementFormat::int8),
                     .scaled = true,
                     .scale = choose(reader, "scale", kScaleFormats, numerics::ScaleFormat::fp32),
                     .layout = choose(reader, "layout", kLayouts, numerics::ScaleLayout::strided),
                     .block = 0};
  if (format.layout == numerics::ScaleLayout::contiguous)
    format.block = reader.integer("block", 1, kMostElements);
  else if (reader.has("block"))
    throw InputError(
        reader.place_of("block"),
        "counts for \"layout\": \"contiguous\" only; a strided minishard has 1024 groups");
  return format;
}

std::uint32_t read_elements_per_scale(ObjectReader& reader, const CollectiveConfig& config) {
  constexpr std::uint64_t kMost = 1 << 20;
  if (config.minishards || config.algorithm != Algorithm::equarx)
    throw InputError(reader.place_of("elements_per_scale"),
                     "chooses the minishards of \"equarx\" where they are not given; remove it, or "
                     "\"minishards\"");
  return static_cast<std::uint32_t>(reader.integer("elements_per_scale", 1, kMost));
}

CollectiveConfig read_collective(ObjectReader reader, ElementFormat dtype) {
  CollectiveConfig config;
  config.algorithm = static_cast<Algorithm>(reader.choice("algorithm", kAlgorithms));
  config.ring = reader.choice_or("ring", kRingStyles, collectives::RingStyle::full_loop);
  if (config.algorithm == Algorithm::equarx) {
    config.quantize = reader.choice_or("quantize", kQuantizedPhases, QuantizedPhases::both);
    config.format = read_block_format(reader);
  } else {
    config.format = {.element = choose(reader, "format", kPlainFormats, dtype)};
    for (const std::string_view key : {"quantize", "scale", "layout", "block"})
      if (reader.has(key))
        throw InputError(reader.place_of(key),
                         "is for \"algorithm\": \"equarx\"; a plain ring has no scales, remove it");
  }
  config.minishards = read_parts(reader, "minishards");
  if (reader.has("elements_per_scale"))
    config.elements_per_scale = read_elements_per_scale(reader, config);
  config.microshards = read_parts(reader, "microshards");
  config.label = reader.has("label") ? reader.text("label")
                                     : fmt::format("{} {}", name(config.algorithm),
                                                   numerics::name(config.format.element));
  reader.finish();
  return config;
}

std::vector<CollectiveConfig> read_collectives(ObjectReader& reader, ElementFormat dtype) {
  const Json& list = reader.array("collectives");
  if (list.empty())
    throw InputError("/collectives", "is empty; name at least one, like {\"algorithm\": \"ring\"}");
  std::vector<CollectiveConfig> collectives;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = fmt::format("/collectives/{}", i);
    collectives.push_back(read_collective(ObjectReader(list[i], place), dtype));
    for (std::size_t other = 0; other < i; ++other)
      if (collectives[other].label == collectives[i].label)
        throw InputError(place + "/label", fmt::format("'{}' is also the label of /collectives/{}; "
                                                       "give each its own",
                                                       collectives[i].label, other));
  }
  return collectives;
}

std::size_t read_baseline(ObjectReader& reader, const std::vector<CollectiveConfig>& collectives) {
  if (!reader.has("baseline")) return 0;
  std::vector<std::string_view> labels;
  for (const CollectiveConfig& collective : collectives) labels.push_back(collective.label);
  return reader.choice("baseline", labels);
}

// --- Writing

Json topology_json(const TopologyConfig& topology) {
  const std::string key{kTopologyKinds[static_cast<std::size_t>(topology.kind)]};
  if (topology.kind == TopologyKind::ring) return {{key, topology.shape.lengths.front()}};
  Json json = {{key, topology::format_lengths(topology.shape.lengths)}};
  if (topology.kind == TopologyKind::torus) json["wraparound"] = topology.shape.wraparound;
  return json;
}

Json tensor_json(const TensorConfig& tensor) {
  Json json;
  if (tensor.shape.empty())
    json["bytes"] = units::format(static_cast<double>(tensor.bytes()), units::Dimension::bytes);
  else
    json["shape"] = tensor.shape;
  json["dtype"] = numerics::name(tensor.dtype);
  json["values"] = {
      {"distribution", kDistributions[static_cast<std::size_t>(tensor.values.distribution)]},
      {"seed", tensor.values.seed},
      {"ranks", kRankValues[tensor.values.identical_ranks ? 1 : 0]}};
  return json;
}

Json collective_json(const CollectiveConfig& collective) {
  Json json = {{"label", collective.label},
               {"algorithm", name(collective.algorithm)},
               {"ring", collectives::name(collective.ring)}};
  if (collective.algorithm == Algorithm::equarx) json["quantize"] = name(collective.quantize);
  json["format"] = numerics::name(collective.format.element);
  if (collective.format.scaled) {
    json["scale"] = numerics::name(collective.format.scale);
    json["layout"] = numerics::name(collective.format.layout);
    if (collective.format.layout == numerics::ScaleLayout::contiguous)
      json["block"] = collective.format.block;
  }
  if (collective.minishards) json["minishards"] = *collective.minishards;
  if (collective.microshards) json["microshards"] = *collective.microshards;
  return json;
}

/// Notices keys that an object has twice; the parser itself would silently keep the last.
class DuplicateKeys {
 public:
  bool operator()(int, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_end || event == Event::array_end) {
      levels_.pop_back();
    } else if (event == Event::key) {
      check(parsed.get<std::string>());
    } else {
      if (!levels_.empty()) ++levels_.back().values;
      if (event != Event::value) levels_.push_back({.is_array = event == Event::array_start});
    }
    return true;
  }

 private:
  /// An object or array that is open.
  struct Level {
    bool is_array = false;
    std::size_t values = 0;  ///< begun in it
    std::set<std::string> keys = {};
    std::string key = {};  ///< the last one
  };

  void check(const std::string& key) {
    Level& object = levels_.back();
    object.key = key;
    if (object.keys.insert(key).second) return;
    Json::json_pointer place;
    for (const Level& level : levels_)
      place.push_back(level.is_array ? std::to_string(level.values - 1) : level.key);
    throw InputError(place.to_string(),
                     fmt::format("the key '{}' stands twice in one object; remove one", key));
  }

  std::vector<Level> levels_;
};

/// The library's message without its own name for the error, "[json.exception.out_of_range.401] ".
std::string_view library_message(const Json::exception& error) {
  const std::string_view what = error.what();
  const std::size_t end = what.find("] ");
  return end == std::string_view::npos ? what : what.substr(end + 2);
}

/// Line and column of the error, and what it is. The library's own column is 0 for an error before a
/// line break.
std::string parse_message(std::string_view text, const Json::parse_error& error) {
  const std::string_view before = text.substr(0, std::max<std::size_t>(error.byte, 1) - 1);
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  const std::string_view what = library_message(error);
  const std::size_t colon = what.find(": ");
  return fmt::format("not valid JSON at line {}, column {}: {}", line, column,
                     colon == std::string_view::npos ? what : what.substr(colon + 2));
}

/// A plain string out of what is not JSON. It need not be text at all, and would stop the program when
/// it is printed.
Json plain_text(const std::string& text, const std::string& pointer) {
  Json value = text;
  try {
    value.dump();
  } catch (const Json::type_error&) {
    throw InputError(pointer, "--set is given bytes that are not UTF-8 text");
  }
  return value;
}

void remove_alternatives(Json& parent, const std::string& key) {
  const auto drop = [&](std::span<const std::string_view> alternatives) {
    if (std::ranges::find(alternatives, key) == alternatives.end()) return;
    for (const std::string_view other : alternatives)
      if (other != key) parent.erase(std::string(other));
  };
  drop(kTensorSizes);
  // A collective has a key "ring", too.
  if (!parent.contains("algorithm")) drop(kTopologyKinds);
}

}  // namespace

std::string_view name(Algorithm algorithm) {
  return kAlgorithms[static_cast<std::size_t>(algorithm)];
}

std::string_view name(QuantizedPhases phases) {
  return kQuantizedPhases[static_cast<std::size_t>(phases)];
}

std::string read_file(const std::string& path) {
  std::error_code unknown;  // a path that cannot be looked up cannot be opened either
  if (std::filesystem::is_directory(path, unknown))
    throw InputError("", fmt::format("cannot read {}: it is a directory", path));
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) text.assign(std::istreambuf_iterator<char>(file), {});
  if (!file) throw InputError("", fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return text;
}

Json parse_json(std::string_view text) {
  try {
    return Json::parse(text, DuplicateKeys());
  } catch (const Json::parse_error& error) {
    throw InputError("", parse_message(text, error));
  } catch (const Json::exception& error) {
    throw InputError("", fmt::format("not valid JSON: {}", library_message(error)));
  }
}

void override_value(Json& config, const std::string& pointer, const std::string& text) {
  Json value = Json::parse(text, DuplicateKeys(), false);
  if (value.is_discarded()) value = plain_text(text, pointer);
  try {
    const Json::json_pointer at(pointer);
    if (at.empty())
      throw InputError("", "--set needs the JSON pointer of a key, like /tensor/bytes");
    Json& parent = config.at(at.parent_pointer());
    if (parent.is_object()) {
      remove_alternatives(parent, at.back());
      parent[at.back()] = std::move(value);
    } else {
      config.at(at) = std::move(value);
    }
  } catch (const Json::exception& error) {
    throw InputError(pointer, fmt::format("--set finds nothing there ({}); a pointer looks like "
                                          "/tensor/bytes or /collectives/0/format",
                                          library_message(error)));
  }
}

ExperimentConfig read_config(const Json& json) {
  ObjectReader reader(json, "");
  ExperimentConfig config;
  config.hardware = reader.text("hardware");
  config.chip = load_chip(config.hardware, "/hardware");
  config.topology = read_topology(reader.object("topology"), config.chip);
  config.tensor = read_tensor(reader.object("tensor"));
  config.collectives = read_collectives(reader, config.tensor.dtype);
  config.baseline = read_baseline(reader, config.collectives);
  config.numerics = !reader.has("numerics") || reader.choice("numerics", kSwitch) == 1;
  config.simulation = reader.choice_or("simulation", kSimulationModes, SimulationMode::automatic);
  reader.finish();
  return config;
}

Json to_json(const ExperimentConfig& config) {
  Json json = {{"hardware", config.hardware},
               {"topology", topology_json(config.topology)},
               {"tensor", tensor_json(config.tensor)},
               {"collectives", Json::array()}};
  for (const CollectiveConfig& collective : config.collectives)
    json["collectives"].push_back(collective_json(collective));
  json["baseline"] = config.collectives[config.baseline].label;
  json["numerics"] = kSwitch[config.numerics ? 1 : 0];
  json["simulation"] = kSimulationModes[static_cast<std::size_t>(config.simulation)];
  return json;
}

}  // namespace equarx::experiments
