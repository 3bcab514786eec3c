// A comparison as a table and as JSON.
#pragma once

#include <string>

#include "experiments/compare/compare.hpp"

namespace equarx::compare {

/// Tables for people: the differences, and the metrics of each collective side by side.
std::string to_table(const Comparison& comparison);

/// The comparison as one JSON object (docs/results.md).
input::Json to_json(const Comparison& comparison);

}  // namespace equarx::compare
