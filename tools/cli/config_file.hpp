// The configuration file that a command is given.
#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>

#include "experiments/config.hpp"
#include "experiments/input_error.hpp"
#include "experiments/object_reader.hpp"
#include "tools/cli/commands.hpp"

namespace equarx::cli {

struct ConfigFile {
  experiments::Json json;  ///< as the user wrote it, with what `--set` changes
  experiments::ExperimentConfig config;
};

/// @throws experiments::InputError, whose message names the file.
ConfigFile read_config_file(const ConfigArguments& arguments);

/// Calls `use`; whatever it finds wrong in the file, the message names it.
template <typename Use>
auto naming_file(const std::string& path, Use&& use) {
  try {
    return std::forward<Use>(use)();
  } catch (const experiments::InputError& error) {
    throw experiments::InputError("", fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace equarx::cli
