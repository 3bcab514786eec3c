#include <fmt/format.h>

#include "experiments/config_parts.hpp"
#include "experiments/input_error.hpp"
#include "experiments/nearest.hpp"
#include "experiments/slices_json.hpp"

namespace equarx::experiments {
namespace {

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

topology::GridShape read_slice(ObjectReader& reader, const hardware::Chip& chip) {
  constexpr std::size_t kProposals = 3;
  const std::vector<std::uint32_t> lengths = read_lengths(reader, "slice");
  if (!hardware::offers(chip.slices, lengths)) {
    const auto nearest = hardware::nearest_slices(chip.slices, lengths, kProposals);
    throw InputError(
        reader.place_of("slice"),
        fmt::format("{} has no slice {}; its slices are {} (axes in any order){}; use "
                    "\"mesh\" or \"torus\" for a machine that is not sold",
                    chip.name, topology::format_lengths(lengths), slices_text(chip.slices),
                    nearest.empty() ? "" : "; nearest: " + list_of_slices(nearest)));
  }
  return {lengths, hardware::wraparound(chip.slices, lengths)};
}

}  // namespace

std::uint32_t count_chips(const topology::GridShape& shape) {
  try {
    return topology::chip_count(shape);
  } catch (const std::invalid_argument& error) {
    throw InputError("/topology", error.what());
  }
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

Json topology_json(const TopologyConfig& topology) {
  const std::string key{kTopologyKinds[static_cast<std::size_t>(topology.kind)]};
  if (topology.kind == TopologyKind::ring) return {{key, topology.shape.lengths.front()}};
  Json json = {{key, topology::format_lengths(topology.shape.lengths)}};
  if (topology.kind == TopologyKind::torus) json["wraparound"] = topology.shape.wraparound;
  return json;
}

}  // namespace equarx::experiments
