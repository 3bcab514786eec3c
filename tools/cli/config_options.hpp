// Options shared by several subcommands: files, configuration, --set, --unset.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/commands.hpp"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace equarx::cli {

/// Resolves missing files to installed ones, so that the commands in help and man page work in any
/// folder.
CLI::Validator or_installed();

/// Resolves the name of a study, like equarx_paper, to its folder in experiments/studies; existing
/// folders are left alone.
CLI::Validator or_named_study();

/// Adds --set and --unset. `of`: owner of the values, for their help
void add_overrides(CLI::App& command, Overrides& overrides, const char* of = "the configuration's");

/// Adds --price. Follows add_config().
void add_price(CLI::App& command, Overrides& overrides);

/// Adds CONFIG, --set and --unset.
void add_config(CLI::App& command, ConfigArguments& arguments);

}  // namespace equarx::cli
