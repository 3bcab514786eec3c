// Collectives of PyTorch's process groups, as described by the arguments of Kineto's events.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/input/object_reader.hpp"
#include "importers/profile/profile.hpp"

namespace equarx::profile {

/// Ranks of the process groups of a profile, by name.
using ProcessGroups = std::map<std::string, std::vector<std::uint32_t>>;

/// Process groups of "distributedInfo", whose key "pg_config" lists them.
ProcessGroups process_groups(const input::Json& distributed_info);

/// True if arguments of an event describe a collective.
bool describes_collective(const input::Json& args);

/// Describes a collective by "Collective name", "In msg nelems", "dtype" and so on
/// (pytorch/torch/csrc/distributed/c10d/ParamCommsUtils.hpp, kineto/libkineto/src/output_json.cpp).
/// Calls that cannot be simulated have an `obstacle`; ranks that are not listed are left out.
/// `kernel`: its name, which contains the reduction; may be empty.
Call kineto_call(const input::Json& args, std::string_view kernel);

/// Sets the group of a call whose ranks are not listed or truncated: the process group of its name;
/// otherwise all `chips` of the run if it has as many ranks; otherwise an obstacle.
void set_unlisted_ranks(const ProcessGroups& groups, std::uint32_t chips, Call& call);

}  // namespace equarx::profile
