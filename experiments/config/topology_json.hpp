// "topology" of a configuration.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/input/object_reader.hpp"

namespace equarx::config {

/// Keys of which one is given.
inline constexpr input::EnumNames<TopologyKind, 6> kTopologyKinds({
    {TopologyKind::slice, "slice"},
    {TopologyKind::mesh, "mesh"},
    {TopologyKind::torus, "torus"},
    {TopologyKind::ring, "ring"},
    {TopologyKind::fully_connected, "fully-connected"},
    {TopologyKind::file, "file"},
});

TopologyConfig read_topology(input::ObjectReader reader, const hardware::Chip& chip);
input::Json topology_json(const TopologyConfig& topology);

}  // namespace equarx::config
