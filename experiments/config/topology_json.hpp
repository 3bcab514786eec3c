// The "topology" of a configuration.
#pragma once

#include <string>

#include "base/input/object_reader.hpp"
#include "experiments/config/config.hpp"

namespace equarx::config {

/// Alternative keys for the kind of topology.
inline constexpr input::EnumNames<TopologyKind, 7> kTopologyKinds({
    {TopologyKind::slice, "slice"},
    {TopologyKind::mesh, "mesh"},
    {TopologyKind::torus, "torus"},
    {TopologyKind::ring, "ring"},
    {TopologyKind::fully_connected, "fully-connected"},
    {TopologyKind::on_switch, "switch"},
    {TopologyKind::file, "file"},
});

/// Axis lengths of a slice of `chip`, written as a shape, "4x2", or as an accelerator type,
/// "v5litepod-8". @throws InputError, at `pointer`, if the chip has no such slice
hardware::SliceLengths slice_lengths(const std::string& text, const hardware::Chip& chip,
                                     const std::string& pointer);

/// Reads a topology. @throws InputError if it is invalid, or not offered with this chip.
TopologyConfig read_topology(input::ObjectReader reader, const hardware::Chip& chip);
/// The topology as configuration JSON, with all defaults filled in.
input::Json topology_json(const TopologyConfig& topology);

/// Schema of "topology", with annotations.
input::Json topology_schema();

}  // namespace equarx::config
