// The "topology" of a configuration.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/input/object_reader.hpp"

namespace equarx::config {

/// Alternative keys for the kind of topology.
inline constexpr input::EnumNames<TopologyKind, 6> kTopologyKinds({
    {TopologyKind::slice, "slice"},
    {TopologyKind::mesh, "mesh"},
    {TopologyKind::torus, "torus"},
    {TopologyKind::ring, "ring"},
    {TopologyKind::fully_connected, "fully-connected"},
    {TopologyKind::file, "file"},
});

/// Reads a topology. @throws InputError if it is invalid, or not offered with this chip.
TopologyConfig read_topology(input::ObjectReader reader, const hardware::Chip& chip);
/// The topology as configuration JSON, with all defaults filled in.
input::Json topology_json(const TopologyConfig& topology);

}  // namespace equarx::config
