// Bash completion.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace equarx::cli {

/// Generates a bash completion script for `app` (completions.hpp).
std::string bash_completion(const CLI::App& app);

}  // namespace equarx::cli
