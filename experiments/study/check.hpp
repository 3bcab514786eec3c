// Checks a study before anything of it runs.
#pragma once

#include "experiments/study/points.hpp"
#include "experiments/study/study.hpp"

namespace equarx::study {

/// Checks that every point of the study is a valid configuration, and that every row names an
/// existing experiment, point, collective and number. `points` are the points of `study`. With
/// a script, checks that its files exist.
/// @throws InputError that names the experiment and its axes, or the row
void check_study(const Study& study, const StudyPoints& points);

}  // namespace equarx::study
