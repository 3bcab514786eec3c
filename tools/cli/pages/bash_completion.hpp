// What the shell completes.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace equarx::cli {

/// A bash script that completes the command line that `app` describes: subcommands, options, files, folders,
/// names of built-in chips and models, the keys of configurations that --set changes, and whatever values
/// the schema of configurations lists for an option or a key of that name.
std::string bash_completion(const CLI::App& app);

}  // namespace equarx::cli
