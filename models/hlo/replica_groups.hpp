// Which chips a collective of HLO is over.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/hlo/module.hpp"

namespace equarx::hlo {

/// Groups of chips, by their number in the module (replica x partitions + partition), each in the order of its ranks.
using DeviceGroups = std::vector<std::vector<std::uint32_t>>;

/// The numbers of replica_groups as they are written, in each of its syntaxes: "{{0,1},{2,3}}", "[2,4]<=[8]",
/// "[4,2]<=[2,4]T(1,0)" (as iota, reshaped, transposed and reshaped), "mesh['a'=2,'b'=4] {'b'}" (read_mesh_groups()).
/// Empty of "" and "{}". None if it is none of these, or has more numbers than `most`, since a few letters may stand for
/// millions; never of a shape of more than 2^24.
std::optional<DeviceGroups> read_groups(std::string_view text, std::uint64_t most);

/// The chips of a collective's groups: what its numbers mean depends on channel_id and use_global_device_ids
/// (xla/service/collective_ops_utils.h, GetCollectiveOpGroupMode). No groups are one of all.
/// None for groups that cannot be read, or name what the module does not have.
std::optional<DeviceGroups> groups_of(const Instruction& instruction, const Module& module);

/// The pairs of a collective-permute, "{{0,1},{1,2}}": from and to. None as above.
std::optional<std::vector<std::pair<std::uint32_t, std::uint32_t>>> pairs_of(
    const Instruction& instruction, const Module& module);

}  // namespace equarx::hlo
