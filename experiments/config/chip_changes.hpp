// A chip that differs from another in some parameters.
#pragma once

#include <string>
#include <vector>

#include "experiments/input/object_reader.hpp"
#include "models/hardware/chip.hpp"

namespace equarx::config {

/// The key of an object that says which chip it changes.
inline constexpr std::string_view kBasedOn = "based_on";

/// Parameters that a chip has otherwise than the one that it is based on, in the order of hardware::parameters().
using ChipChanges = std::vector<const hardware::ParameterInfo*>;

/// Takes the parameters that `reader` has into `chip`, which is then called by them, and counts as calibrated no
/// more. A parameter is its value, which is `assumed` then, or an object as a hardware file has it. A value that
/// the chip has already is no change. Keys that are no parameters are left for the caller to ask for.
/// @throws InputError
ChipChanges read_changes(input::ObjectReader& reader, hardware::Chip& chip);

/// `json`, an object, with the changed parameters of `chip` as read_changes() reads them.
void append_changes(input::Json& json, const hardware::Chip& chip, const ChipChanges& changes);

/// What a configuration's "hardware" is called: "tpu-v5e", or "tpu-v5e (link_bandwidth 90 GB/s)" where parameters
/// are changed. Of JSON that is neither a name nor such an object: "a chip".
std::string chip_text(const input::Json& hardware);

}  // namespace equarx::config
