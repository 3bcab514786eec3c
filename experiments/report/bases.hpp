// Axes for the differences between earlier and later states of a sweep.
#pragma once

#include "experiments/report/results.hpp"

namespace equarx::report {

/// Adds an axis for each setting in which the bases of sweeps differ, with the value of the row's
/// base. Collectives are identified by label; one that is missing in some bases has rows of its
/// own, and no axis. Only settings that are equal in all configurations of a base are compared: the
/// others are axes already.
void add_axes_of_bases(ReportResults& results);

}  // namespace equarx::report
