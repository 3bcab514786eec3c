// Reads a command's configuration file.
#pragma once

#include <string>
#include <utility>

#include "base/input/errors.hpp"
#include "base/input/json_value.hpp"
#include "experiments/config/any_config.hpp"
#include "experiments/config/serving.hpp"
#include "tools/cli/commands.hpp"

namespace equarx::cli {

/// An experiment as JSON and parsed.
struct ConfigFile {
  input::JsonValue json;  ///< with overrides applied
  config::ExperimentConfig config;
};

/// Path that denotes standard input.
inline constexpr const char* kStandardInput = "-";

/// Name of a configuration file in messages.
inline std::string name_of(const std::string& path) {
  return path == kStandardInput ? "standard input" : path;
}

/// Reads a file or standard input. @throws input::InputError if it cannot be read
std::string read_text(const std::string& path);

/// The same from the text of the file.
input::JsonValue read_json(const ConfigArguments& arguments, const std::string& text);

/// Reads a configuration's JSON and applies its overrides. @throws input::InputError
/// naming the file
input::JsonValue read_json(const ConfigArguments& arguments);

/// Parses and checks a configuration. @throws input::InputError naming the file
ConfigFile read_config_file(const ConfigArguments& arguments, input::JsonValue json);
/// read_json(), then parsing.
ConfigFile read_config_file(const ConfigArguments& arguments);

/// Reads a configuration of any kind, and checks its schema, and whether a step can run.
/// @throws input::InputError naming the file
config::Config read_any(const std::string& path, const input::JsonValue& json);

/// Reads a served model, checks its schema, and that all requests fit.
/// @throws input::InputError naming the file
config::ServingConfig read_serving(const std::string& path, const input::JsonValue& json);

/// Warns on standard error of labels that name another format than runs.
void print_warnings(const config::ExperimentConfig& config);
/// The same for the collectives compared in a workload, and of a model that does not fit.
void print_warnings(const config::StepConfig& config);

/// @throws input::InputError if `output` is the configuration file or a file named in it
void check_not_read(const std::string& output, const std::string& path,
                    const config::Config& config);

/// Calls `use` and prefixes its error messages with the file's name.
template <typename Use>
auto naming_file(const std::string& path, Use&& use) {
  return input::within(name_of(path), std::forward<Use>(use));
}

}  // namespace equarx::cli
