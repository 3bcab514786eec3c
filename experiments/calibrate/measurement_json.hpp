// Reads one measurement of a calibration file.
#pragma once

#include <filesystem>
#include <string>

#include "experiments/calibrate/task.hpp"

namespace equarx::calibrate {

/// `hardware`: name of the calibrated chip as in the file. @throws InputError
Measurement read_measurement(input::ObjectReader reader, const std::string& place,
                             const std::string& hardware, const std::filesystem::path& folder);

/// Schema of a measurement, with annotations.
input::Json measurement_schema();

}  // namespace equarx::calibrate
