// Axes of a report: the settings in which its rows differ.
#pragma once

#include <string>

#include "base/input/json_value.hpp"
#include "experiments/report/results.hpp"

namespace equarx::report {

/// Adds axes to every row, with values from its configuration: the axes of all other rows, and the
/// settings in which configurations with equal axes (or none) differ. A row gets no axis that is
/// missing in its configuration or that refers to another collective (often the case for the
/// baseline).
void complete_axes(ReportResults& results);

/// Formats a value for a cell: {"mesh": "3x3"} as "mesh 3x3", [512, 1024] as "512 x 1024".
std::string in_words(const input::Json& value);

/// Formats the value of an axis for a cell, like in_words(). An empty object stands for the
/// defaults, which are taken from `config`: {} of /uncertainty is "samples 200, seed 1", or "on" if
/// `config` lacks them.
std::string axis_text(const std::string& pointer, const input::Json& value,
                      const input::Json& config);

}  // namespace equarx::report
