// Slices of a hardware file, as JSON and as text.
#pragma once

#include <string>
#include <vector>

#include "base/input/object_reader.hpp"
#include "models/hardware/slices.hpp"

namespace equarx::config {

/// Reads "slices" of a hardware file. @throws InputError
hardware::Slices read_slices(input::ObjectReader reader);

/// Inverse of read_slices().
input::Json slices_json(const hardware::Slices& slices);

/// "1x1, 2x2": all shapes.
std::string list_of_slices(const std::vector<hardware::SliceLengths>& slices);

/// "2x2x1, 2x2x2, and whole 4x4x4 cubes up to 6144 chips"
std::string slices_text(const hardware::Slices& slices);

/// "axes of length 16 wrap around"
std::string wraparound_text(const hardware::Slices& slices);

/// Schema of "slices" of a hardware file, with annotations.
input::Json slices_schema();
/// Schema of axis lengths like "4x2".
input::Json lengths_schema();

}  // namespace equarx::config
