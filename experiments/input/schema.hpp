#pragma once

#include <string>

#include "experiments/input/object_reader.hpp"

namespace equarx::input {

/// Checks a document against a schema of configs/schema/ ("calibration", "experiment", "hardware", "model", "result", "step", "study", "sweep", "topology"), by a
/// library. The readers check more, and say it better; this holds them and the published schema together.
/// @throws InputError with the JSON pointer of the first violation.
void check_schema(const Json& document, const std::string& schema);

}  // namespace equarx::input
