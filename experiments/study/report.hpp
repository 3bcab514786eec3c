// What a study leaves behind beside its results: a table for people, CSV and JSON for programs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/study/outcomes.hpp"
#include "experiments/study/study.hpp"

namespace equarx::study {

/// The rows: reported, simulated, ratio, calibration or prediction.
std::string to_table(const Study& study, const std::vector<StudyOutcome>& outcomes);

/// Writes rows.csv and study.json into `folder`, which is made if it is not there. Each file is complete or
/// not there at all. Returns their paths. @throws InputError if they cannot be written.
std::vector<std::filesystem::path> write_report(const Study& study,
                                                const std::vector<StudyOutcome>& outcomes,
                                                const std::filesystem::path& folder);

}  // namespace equarx::study
