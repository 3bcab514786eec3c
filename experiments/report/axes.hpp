// What tells the rows of a report apart.
#pragma once

#include <string>

#include "experiments/input/json_value.hpp"
#include "experiments/report/results.hpp"

namespace equarx::report {

/// Gives every row the axes that any row has, and those in which the configurations of rows with the same
/// axes (or with none) differ, from its configuration. A row whose configuration does not have one stays
/// without, and so does a run of an axis that is about another collective, as the baseline of most.
void complete_axes(ReportResults& results);

/// A value as a cell of a table shows it: {"mesh": "3x3"} is "mesh 3x3", [512, 1024] is "512 x 1024".
std::string in_words(const input::Json& value);

}  // namespace equarx::report
