// Finds what is wrong with a study before anything of it is run.
#pragma once

#include "experiments/study/points.hpp"
#include "experiments/study/study.hpp"

namespace equarx::study {

/// Sees whether every point of the study is a configuration, and whether every row names an experiment, a
/// point, a collective and a number that there will be. `points` are those of `study`.
/// @throws InputError that names the experiment and its axes, or the row.
void check_study(const Study& study, const StudyPoints& points);

}  // namespace equarx::study
