// Groups of chips along axes of a named mesh.
#pragma once

#include <optional>
#include <string_view>

#include "importers/hlo/replica_groups.hpp"

namespace equarx::hlo {

/// Parses "mesh['a'=2,'b'=4] {'b'}": groups of chips that differ along these axes, in axis order.
/// An axis may be split: "'b':(2)2" is the sub-axis of length 2 after one of length 2. Chips are
/// numbered along the axes, the last one fastest, or by the device_ids of the mesh, as in
/// "mesh['a'=2,'b'=2], device_ids=(0,2,1,3) {'b'}" or "device_ids=([4,2]T(1,0))", also within the
/// brackets; "@mesh<a=2,b=4> {b}" is the same (xla/hlo/ir/mesh_and_axis.h,
/// MeshAxesReplicaGroupList). Returns
/// std::nullopt for other text and for more than `most` or 2^24 chips.
std::optional<DeviceGroups> read_mesh_groups(std::string_view text, std::uint64_t most);

}  // namespace equarx::hlo
