// Fish completion.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace equarx::cli {

/// Generates a fish completion script for `app` (completions.hpp).
std::string fish_completion(const CLI::App& app);

}  // namespace equarx::cli
