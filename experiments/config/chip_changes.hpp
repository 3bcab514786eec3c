// Chips defined by overriding parameters of another chip.
#pragma once

#include <string>
#include <vector>

#include "base/input/object_reader.hpp"
#include "models/hardware/chip.hpp"

namespace equarx::config {

/// Key that names the base chip.
inline constexpr std::string_view kBasedOn = "based_on";

/// Parameters that differ from the base chip, in the order of hardware::parameters().
using ChipChanges = std::vector<const hardware::ParameterInfo*>;

/// Applies the parameters in `reader` to `chip`, appends them to its name, and drops the
/// calibration they invalidate. A parameter is a plain value, which is then classed as `assumed`,
/// or an object as in a hardware file. A value equal to the base chip's is no change. Other keys
/// are left for the caller to read. @throws InputError
ChipChanges read_changes(input::ObjectReader& reader, hardware::Chip& chip);

/// Refuses a chip with only some of the parameters of workgroups (models/hardware/workgroups.hpp),
/// whose object is `reader`. @throws InputError
void check_workgroups(const hardware::Chip& chip, const input::ObjectReader& reader);

/// Adds the changed parameters of `chip` to the object `json`, as read_changes() reads them.
void append_changes(input::Json& json, const hardware::Chip& chip, const ChipChanges& changes);

/// Display name of a configuration's "hardware": "tpu-v5e", or "tpu-v5e (link_bandwidth 90 GB/s)"
/// with changed parameters; "a chip" if the JSON is neither a name nor such an object.
std::string chip_text(const input::Json& hardware);

/// Name or file of the chip that a configuration's "hardware" names or is based on; empty for other
/// JSON.
std::string base_name(const input::Json& hardware);

/// Schema of an object with "based_on" and any parameter. `parameter`: schema of a parameter of one
/// kind.
input::Json changes_schema(input::Json (*parameter)(hardware::ParameterKind kind));

}  // namespace equarx::config
