// One measurement of a calibration file.
#pragma once

#include <filesystem>
#include <string>

#include "experiments/calibrate/task.hpp"

namespace equarx::calibrate {

/// `hardware`: the chip that is calibrated, as the file names it. @throws InputError
Measurement read_measurement(input::ObjectReader reader, const std::string& place,
                             const std::string& hardware, const std::filesystem::path& folder);

}  // namespace equarx::calibrate
