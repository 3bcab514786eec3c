// What the shell completes.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace equarx::cli {

/// A bash script that completes the command line that `app` describes (completions.hpp).
std::string bash_completion(const CLI::App& app);

}  // namespace equarx::cli
