// What tells the rows of one state of a sweep from those of another.
#pragma once

#include "experiments/report/results.hpp"

namespace equarx::report {

/// Where the bases of sweeps differ, gives each row of a sweep the values of its base as further axes. A
/// collective is called by its label; one that only some bases have has rows of its own, and makes no axis.
/// Bases are compared in what all their configurations have alike, for the rest is of the axes.
void add_axes_of_bases(ReportResults& results);

}  // namespace equarx::report
