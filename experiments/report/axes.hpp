// What tells the rows of a report apart.
#pragma once

#include "experiments/report/results.hpp"

namespace equarx::report {

/// Gives every row the axes that any row has, and those in which the configurations of rows without
/// axes differ, from its configuration. A row whose configuration does not have one stays without.
void complete_axes(ReportResults& results);

}  // namespace equarx::report
