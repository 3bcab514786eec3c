// What calibration has found, for people and for programs.
#pragma once

#include <string>

#include "experiments/calibrate/calibrate.hpp"

namespace equarx::calibrate {

/// For people.
std::string to_table(const CalibrationTask& task, const CalibrationResult& result);

/// For programs; docs/calibrate.md describes it.
input::Json to_json(const CalibrationTask& task, const CalibrationResult& result);

}  // namespace equarx::calibrate
