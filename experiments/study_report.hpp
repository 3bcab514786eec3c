// What a study leaves behind: a table for people, CSV and JSON for programs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/study.hpp"

namespace equarx::experiments {

/// The rows: reported, simulated, ratio, calibration or prediction.
std::string to_table(const StudyResult& result);

/// Sees whether write_report() can write there, so that a study is not run for nothing. Makes nothing.
/// @throws InputError if the folder, or the one that it would be made in, is no folder or not writable.
void check_folder(const std::filesystem::path& folder);

/// Writes rows.csv, points.csv and study.json into `folder`, which is made if it is not there. Each file
/// is complete or not there at all. Returns their paths.
/// @throws InputError if they cannot be written.
std::vector<std::filesystem::path> write_report(const StudyResult& result,
                                                const std::filesystem::path& folder);

}  // namespace equarx::experiments
