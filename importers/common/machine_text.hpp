// Parsing of command-line values shared by the importers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/input/json_value.hpp"

namespace equarx::imports {

/// Parses an integer from 0 to `most`; std::nullopt for other text.
std::optional<std::uint64_t> whole_number(std::string_view text, std::uint64_t most);

/// Parses "4x4", "torus:4x4x4" or JSON to the configuration value "topology". `what`: what runs on
/// the machine, like "the program".
/// @throws input::InputError that names --topology
input::JsonValue topology_json(const std::string& text, std::string_view what);

/// Reads a file. `what`: kind of file in the plural, like "programs".
/// @throws input::InputError if it is unreadable or larger than `most_bytes`
std::string read_limited_file(const std::string& path, std::uintmax_t most_bytes,
                              std::string_view what);

}  // namespace equarx::imports
