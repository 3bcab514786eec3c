// Renders the result of a calibration as tables and as JSON.
#pragma once

#include <string>

#include "experiments/calibrate/calibrate.hpp"

namespace equarx::calibrate {

/// Tables with notes and warnings.
std::string to_table(const CalibrationTask& task, const CalibrationResult& result);

/// JSON as described in docs/calibrate.md.
input::Json to_json(const CalibrationTask& task, const CalibrationResult& result);

}  // namespace equarx::calibrate
