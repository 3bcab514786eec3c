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

/// Reads which chips and cables there are. @throws InputError for what is not valid, or not offered with this chip.
TopologyConfig read_topology(input::ObjectReader reader, const hardware::Chip& chip);
/// A topology as a configuration has it, with every default filled in.
input::Json topology_json(const TopologyConfig& topology);

}  // namespace equarx::config
