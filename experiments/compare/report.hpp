// A comparison as a table and as JSON.
#pragma once

#include <string>

#include "experiments/compare/compare.hpp"

namespace equarx::compare {

/// Tables for people: what differs, and the numbers of each collective side by side.
std::string to_table(const Comparison& comparison);

/// The same as one JSON object (docs/results.md).
input::Json to_json(const Comparison& comparison);

}  // namespace equarx::compare
