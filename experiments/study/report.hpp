// Reports of a study: a table for people, CSV and JSON for programs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/study/outcomes.hpp"
#include "experiments/study/study.hpp"

namespace equarx::study {

/// Table of the rows: reported and simulated figure, ratio, role, and whether it is within its
/// tolerance.
std::string to_table(const Study& study, const std::vector<StudyOutcome>& outcomes);

/// Writes rows.csv and study.json into `folder`, which is created if absent. Each file is written
/// atomically. Returns their paths. @throws InputError if they cannot be written
std::vector<std::filesystem::path> write_report(const Study& study,
                                                const std::vector<StudyOutcome>& outcomes,
                                                const std::filesystem::path& folder);

}  // namespace equarx::study
