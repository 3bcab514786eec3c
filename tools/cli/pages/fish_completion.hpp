// What fish completes.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace equarx::cli {

/// A fish script that completes the command line that `app` describes (completions.hpp).
std::string fish_completion(const CLI::App& app);

}  // namespace equarx::cli
