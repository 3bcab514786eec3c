// Shell-independent completion data.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace equarx::cli {

/// Choices at one position of the command line.
struct Choices {
  std::vector<std::string> words;
  bool files = false;
  bool folders = false;
  bool keys = false;  ///< a configuration key with a value, for --set: Completions::keys
  bool list = false;  ///< comma-separated words
};

/// An option, or a flag without a value.
struct CompletedOption {
  std::vector<std::string> names;  ///< "--output", "-o"
  std::string description;
  bool takes_value = false;
  Choices values;
};

/// A positional argument.
struct CompletedArgument {
  std::string name;
  bool repeated = false;
  Choices values;
};

/// A subcommand, or the top level with an empty name.
struct CompletedCommand {
  std::string name;
  std::string description;
  std::vector<CompletedOption> options;
  std::vector<CompletedArgument> arguments;
};

/// Completion data of a command line.
struct Completions {
  CompletedCommand top;
  std::vector<CompletedCommand> commands;
  /// JSON pointer of each configuration key to its enumerated values.
  std::map<std::string, std::vector<std::string>> keys;
};

/// Collects subcommands, options, files, folders, built-in chips and models, configuration keys,
/// and the schema's enumerated values for options and keys.
/// @throws std::logic_error for nested subcommands
Completions completions_of(const CLI::App& app);

/// Space-separated keys as prefixes of `--set` values: "/tensor/bytes= ...".
std::string key_names(const Completions& completions);

}  // namespace equarx::cli
