// The subcommand `contract`.
#pragma once

#include <CLI/CLI.hpp>

namespace equarx::cli {

/// Adds the subcommand, its options and its action.
void add_contract(CLI::App& app);

}  // namespace equarx::cli
