// Support for whole-step configurations in `run`, `show`, `validate`, `tune` and `export`.
#pragma once

#include <string>

#include "experiments/config/step.hpp"
#include "experiments/input/json_value.hpp"
#include "tools/cli/commands.hpp"

namespace equarx::cli {

/// Reads a step and checks its schema and memory. @throws input::InputError naming the file
config::StepConfig read_step(const std::string& path, const input::JsonValue& json);

/// Simulates the step and prints its tables or JSON. @throws input::InputError for invalid input
/// and options that apply to collectives only
void run_step(const RunArguments& arguments, const input::JsonValue& json);
/// Runs all checks that `run` performs before simulating. @throws input::InputError naming the file
void check_step(const std::string& path, const input::JsonValue& json);
/// The configuration with all defaults, as text. @throws input::InputError naming the file
std::string show_step(const std::string& path, const input::JsonValue& json);

}  // namespace equarx::cli
