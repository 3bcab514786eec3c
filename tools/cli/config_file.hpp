// The configuration file that a command is given.
#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>

#include "experiments/config/config.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json_value.hpp"
#include "tools/cli/commands.hpp"

namespace equarx::cli {

/// An experiment's file, as JSON and as what it means.
struct ConfigFile {
  input::JsonValue json;  ///< as the user wrote it, with what `--set` changes
  config::ExperimentConfig config;
};

/// Stands for standard input where a command takes a configuration file.
inline constexpr const char* kStandardInput = "-";

/// What messages call a configuration file.
inline std::string name_of(const std::string& path) {
  return path == kStandardInput ? "standard input" : path;
}

/// The text of a file, or of standard input. @throws input::InputError if it cannot be read
std::string read_text(const std::string& path);

/// A configuration's JSON with what `--set` changes, not read yet. @throws input::InputError, whose message names the
/// file
input::JsonValue read_json(const ConfigArguments& arguments);

/// What it means. @throws likewise
ConfigFile read_config_file(const ConfigArguments& arguments, input::JsonValue json);
/// Both.
ConfigFile read_config_file(const ConfigArguments& arguments);

/// @throws input::InputError if `output` is the configuration's file, or one that it names.
void check_not_read(const std::string& output, const std::string& path,
                    const config::ExperimentConfig& config);

/// Calls `use`; whatever it finds wrong in the file, the message names it.
template <typename Use>
auto naming_file(const std::string& path, Use&& use) {
  try {
    return std::forward<Use>(use)();
  } catch (const input::InputError& error) {
    throw input::InputError("", fmt::format("{}: {}", name_of(path), error.what()));
  }
}

}  // namespace equarx::cli
