// "topology" of a configuration.
#pragma once

#include <array>
#include <string_view>

#include "experiments/config/config.hpp"
#include "experiments/input/object_reader.hpp"

namespace equarx::config {

/// Keys of which one is given, in the order of TopologyKind.
inline constexpr std::array<std::string_view, 6> kTopologyKinds = {
    "slice", "mesh", "torus", "ring", "fully-connected", "file"};

TopologyConfig read_topology(input::ObjectReader reader, const hardware::Chip& chip);
input::Json topology_json(const TopologyConfig& topology);

}  // namespace equarx::config
