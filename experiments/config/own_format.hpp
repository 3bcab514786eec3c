// "codec": size on the wire and work on a chip of a format coded by functions of the user. The
// functions are no part of a configuration: it is timed from these figures, and its values are
// computed where the functions are, in Python.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/input/object_reader.hpp"
#include "experiments/config/config.hpp"

namespace equarx::config {

/// Value of `format` next to the key `codec`.
inline constexpr std::string_view kOwnFormat = "own";

/// True if the keys describe such a format.
bool has_own_format(input::ObjectReader& reader);

/// Reads `"format": "own"` and `codec`. @throws InputError if one of them is missing or wrong
NamedBlockFormat read_own_format(input::ObjectReader& reader);

/// Both keys. `format`: with ScaleRule::own
input::Json own_format_json(const NamedBlockFormat& format);

/// Refuses own formats where values are computed, which takes their functions.
/// @throws InputError at `pointer`, of a collective's format
void check_has_values(const CollectiveConfig& collective, const std::string& pointer);

/// The same for the list at /collectives.
void check_have_values(const std::vector<CollectiveConfig>& collectives);

/// Schema of the value of `codec`.
input::Json own_codec_schema();

}  // namespace equarx::config
