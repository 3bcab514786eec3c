// Zsh completion.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace equarx::cli {

/// Generates a zsh completion function for `app`, for a file _equarx-sim in fpath
/// (completions.hpp).
std::string zsh_completion(const CLI::App& app);

}  // namespace equarx::cli
