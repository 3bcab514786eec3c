// What a study leaves behind: a table for people, CSV and JSON for programs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/study/study.hpp"

namespace equarx::study {

/// The rows: reported, simulated, ratio, calibration or prediction.
std::string to_table(const StudyResult& result);

/// Writes rows.csv, points.csv and study.json into `folder`, which is made if it is not there. Each file
/// is complete or not there at all. Returns their paths.
/// @throws InputError if they cannot be written.
std::vector<std::filesystem::path> write_report(const StudyResult& result,
                                                const std::filesystem::path& folder);

}  // namespace equarx::study
