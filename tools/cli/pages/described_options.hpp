// Visible options and subcommands of a command line.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace equarx::cli {

/// Options and arguments that are not hidden, in declaration order.
std::vector<const CLI::Option*> described_options(const CLI::App& app);

/// Subcommands that are not hidden.
std::vector<const CLI::App*> described_subcommands(const CLI::App& app);

/// "--output" and "-o", long names first; empty for positional arguments.
std::vector<std::string> option_names(const CLI::Option& option);

/// True for arguments and options with a value, false for flags.
bool takes_value(const CLI::Option& option);

}  // namespace equarx::cli
