// What shells complete, whichever they are.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace equarx::cli {

/// What may stand at one place of the command line.
struct Choices {
  std::vector<std::string> words;
  bool files = false;
  bool folders = false;
  bool keys =
      false;  ///< a key of configurations with a value, as --set takes it: Completions::keys
  bool list = false;  ///< several of the words, with commas between them
};

/// An option, or a flag without a value.
struct CompletedOption {
  std::vector<std::string> names;  ///< "--output", "-o"
  std::string description;
  bool takes_value = false;
  Choices values;
};

/// What stands without an option before it.
struct CompletedArgument {
  std::string name;
  bool repeated = false;
  Choices values;
};

/// A subcommand; or what comes before one, which has no name.
struct CompletedCommand {
  std::string name;
  std::string description;
  std::vector<CompletedOption> options;
  std::vector<CompletedArgument> arguments;
};

/// All that a command line offers.
struct Completions {
  CompletedCommand top;
  std::vector<CompletedCommand> commands;
  /// The keys of configurations by their JSON pointers, each with the values that are listed for it.
  std::map<std::string, std::vector<std::string>> keys;
};

/// Subcommands, options, files, folders, names of built-in chips and models, the keys of configurations, and
/// whatever values the schema of configurations lists for an option or a key of that name.
/// @throws std::logic_error for a subcommand of a subcommand
Completions completions_of(const CLI::App& app);

/// The keys as `--set` begins with them, "/tensor/bytes=", with spaces between them.
std::string key_names(const Completions& completions);

}  // namespace equarx::cli
