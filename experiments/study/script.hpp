// Studies whose figures a script computes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/input/json_value.hpp"
#include "experiments/study/study.hpp"

namespace equarx::study {

/// Checks that the program and the files of its arguments exist. @throws InputError
void check_script(const StudyScript& script);

/// The command, with paths of its files, the folder for results and the number of processes.
std::vector<std::string> script_command(const StudyScript& script,
                                        const std::filesystem::path& output, std::size_t jobs);

/// Reads the results of a script that succeeded. @throws InputError with the file
input::Json script_results(const StudyScript& script, const std::filesystem::path& output);

/// The number at the row's pointer. @throws InputError of the row, with the keys that are there
double number_in_results(const StudyRow& row, const input::Json& results);

}  // namespace equarx::study
