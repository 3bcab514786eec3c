// What of a command line is told to users.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace equarx::cli {

/// Options and arguments that are not hidden, in the order in which they were added.
std::vector<const CLI::Option*> described_options(const CLI::App& app);

/// Subcommands that are not hidden.
std::vector<const CLI::App*> described_subcommands(const CLI::App& app);

/// "--output" and "-o", long names first; none of an argument.
std::vector<std::string> option_names(const CLI::Option& option);

/// Whether it is an argument or an option with a value, not a flag.
bool takes_value(const CLI::Option& option);

}  // namespace equarx::cli
