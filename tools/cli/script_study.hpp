// Runs the script of a study, with its messages on standard error.
#pragma once

#include <filesystem>

#include "experiments/study/study.hpp"

namespace equarx::cli {

/// Runs the script with its results in `output`, which is created; `fresh` moves older ones aside.
/// Returns 0, 1 if the script failed, or 128 + signal, after a message on standard error.
/// @throws InputError if the folder is not writable or is locked by another process
int run_script(const study::StudyScript& script, const std::filesystem::path& output, bool fresh,
               std::size_t jobs);

}  // namespace equarx::cli
