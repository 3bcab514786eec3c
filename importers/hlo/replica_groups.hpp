// Chips that take part in an HLO collective.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/common/device_axes.hpp"
#include "importers/hlo/module.hpp"

namespace equarx::hlo {

/// Chips are numbered replica x partitions + partition.
using imports::DeviceGroups;

/// Parses replica_groups in each of its syntaxes: "{{0,1},{2,3}}", "[2,4]<=[8]",
/// "[4,2]<=[2,4]T(1,0)" (iota, reshaped, transposed and reshaped), "mesh['a'=2,'b'=4] {'b'}"
/// (read_mesh_groups()). Returns no groups for "" and "{}". Returns std::nullopt for other text,
/// for more than `most` numbers (a few characters can denote millions), and for shapes of more than
/// 2^24.
std::optional<DeviceGroups> read_groups(std::string_view text, std::uint64_t most);

/// Meaning of the numbers in the groups or pairs of a collective.
enum class Numbers : std::uint8_t { devices, replicas, partitions, replicas_with_all_partitions };

/// By channel_id and use_global_device_ids (xla/service/collective_ops_utils.h,
/// GetCollectiveOpGroupMode).
Numbers numbers_of(const Instruction& instruction);

/// Largest number in the groups or pairs of a collective; std::nullopt if they name none or cannot
/// be parsed.
std::optional<std::uint64_t> largest_number(const Instruction& instruction);

/// Why groups_of() or pairs_of() has no result.
std::string group_problem(const Instruction& instruction, const Module& module);

/// Returns the chips of the groups of a collective. Absent groups mean one group of all chips. Returns std::nullopt for groups that cannot be parsed
/// or name nonexistent devices.
std::optional<DeviceGroups> groups_of(const Instruction& instruction, const Module& module);

/// Returns the (source, target) pairs of a collective-permute, "{{0,1},{1,2}}". std::nullopt as
/// above.
std::optional<std::vector<std::pair<std::uint32_t, std::uint32_t>>> pairs_of(
    const Instruction& instruction, const Module& module);

}  // namespace equarx::hlo
