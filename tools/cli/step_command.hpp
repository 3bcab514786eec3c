// What `run`, `show`, `validate` and `tune` do with a configuration of a whole step.
#pragma once

#include <string>

#include "experiments/config/step.hpp"
#include "experiments/input/json_value.hpp"
#include "tools/cli/commands.hpp"

namespace equarx::cli {

/// What the step is, checked against its schema and the chips' memory. @throws input::InputError, whose message names
/// the file
config::StepConfig read_step(const std::string& path, const input::JsonValue& json);

/// Simulates the step and prints its tables, or JSON. @throws input::InputError for the user's mistakes, and for options
/// that are for a collective
void run_step(const RunArguments& arguments, const input::JsonValue& json);
/// Checks the step as `run` does before it simulates. @throws likewise
void check_step(const std::string& path, const input::JsonValue& json);
/// The configuration with every default filled in, as text. @throws likewise
std::string show_step(const std::string& path, const input::JsonValue& json);

}  // namespace equarx::cli
