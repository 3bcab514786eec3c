// The subcommands that exchange programs with others: import and export, and their options.
#pragma once

#include <CLI/CLI.hpp>

namespace equarx::cli {

void add_import(CLI::App& app);
void add_export(CLI::App& app);

}  // namespace equarx::cli
