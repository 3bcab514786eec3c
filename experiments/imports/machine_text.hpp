// What a user gives on the command line of somebody else's program: its file, and the machine that it runs on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "experiments/input/json_value.hpp"

namespace equarx::imports {

/// A whole number of a text, from 0 to `most`; none if it is something else.
std::optional<std::uint64_t> whole_number(std::string_view text, std::uint64_t most);

/// "4x4", "torus:4x4x4" or JSON, as "topology" of a configuration. `what`: whom the machine is for, like "the program".
/// @throws input::InputError that names --topology
input::JsonValue topology_json(const std::string& text, std::string_view what);

/// The text of a file of others. `what`: for people, "programs".
/// @throws input::InputError if it cannot be read, or is larger than `most_bytes`
std::string read_file_of_others(const std::string& path, std::uintmax_t most_bytes,
                                std::string_view what);

}  // namespace equarx::imports
