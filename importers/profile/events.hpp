// Chrome-trace JSON, the container of profiles.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/input/json_value.hpp"

namespace equarx::profile {

/// True for the text of an event that is used; the others are not parsed.
using WantEvent = std::function<bool(std::string_view)>;
/// Receives an event, an object of the list "traceEvents".
using UseEvent = std::function<void(const input::Json&)>;

/// Calls `use` with each wanted event of a trace, an object with a list "traceEvents" or the bare
/// list, and returns the rest of the object. Holds one event at a time in memory; of duplicate keys
/// the last counts.
/// @throws input::InputError for gzip files, other text than JSON and traces without events
input::JsonValue read_events(std::string_view text, const WantEvent& wanted, const UseEvent& use);

/// Returns the text of a member; empty if absent or not a text.
std::string text_of(const input::Json& object, const char* key);

/// Returns the finite number of a member, which may be written as a text; std::nullopt if absent.
std::optional<double> number_of(const input::Json& object, const char* key);

/// Returns a member that is an object; an empty object if absent.
const input::Json& object_of(const input::Json& object, const char* key);

}  // namespace equarx::profile
