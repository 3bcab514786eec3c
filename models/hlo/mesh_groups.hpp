// Groups of chips that differ along axes of a mesh.
#pragma once

#include <optional>
#include <string_view>

#include "models/hlo/replica_groups.hpp"

namespace equarx::hlo {

/// Reads "mesh['a'=2,'b'=4] {'b'}": chips that differ along these axes, in the order of the axes. Of an axis a part may
/// be named, "'b':(2)2": the part of length 2 behind one of length 2. The chips are numbered along the axes, the last
/// fastest, or are device_ids of the mesh: a list, or "([2,4]<=[4,2]T(1,0))" (xla/hlo/ir/mesh_and_axis.h,
/// MeshAxesReplicaGroupList). None if it is not that, or has more chips than `most` or 2^24.
std::optional<DeviceGroups> read_mesh_groups(std::string_view text, std::uint64_t most);

}  // namespace equarx::hlo
