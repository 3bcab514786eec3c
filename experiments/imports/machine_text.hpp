// The machine that a user names on the command line for somebody else's program.
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

}  // namespace equarx::imports
