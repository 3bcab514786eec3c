// Options that several subcommands have: files, a configuration, --set.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/commands.hpp"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace equarx::cli {

/// Finds a file that is not there where the program is installed, so that the commands of help and pages work in any
/// folder.
CLI::Validator or_installed();

/// --set. `of`: whose values, for its help
void add_overrides(CLI::App& command, std::vector<std::string>& overrides,
                   const char* of = "the configuration's");

/// A configuration, and --set.
void add_config(CLI::App& command, ConfigArguments& arguments);

}  // namespace equarx::cli
