// What zsh completes.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace equarx::cli {

/// A zsh function, for a file _equarx-sim in fpath, that completes the command line that `app` describes
/// (completions.hpp).
std::string zsh_completion(const CLI::App& app);

}  // namespace equarx::cli
