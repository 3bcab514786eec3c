#pragma once

#include <string>

#include "base/input/object_reader.hpp"

namespace equarx::input {

/// Validates a document against a schema of configs/schema/ ("calibration", "experiment", "format",
/// "hardware", "model", "result", "step", "study", "sweep", "topology"). The readers are stricter
/// and have better messages; this keeps them consistent with the published schema. @throws
/// InputError with the JSON pointer of the first violation.
void check_schema(const Json& document, const std::string& schema);

}  // namespace equarx::input
