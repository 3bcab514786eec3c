// JSON of experiment configurations.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/input/json_text.hpp"
#include "base/input/object_reader.hpp"
#include "experiments/config/config.hpp"

namespace equarx::config {

/// Reads a configuration. @throws InputError if it is invalid.
ExperimentConfig read_config(const input::Json& json);

/// Reads the part common to all configurations: the machine and its simulation. @throws InputError
ExperimentConfig read_machine(input::ObjectReader& reader);

/// Reads "numerics": "on", "off" or a JSON boolean; absent: on. @throws InputError
bool read_numerics(input::ObjectReader& reader);
/// Value of "numerics".
std::string numerics_key(bool numerics);

/// "hardware", "topology" and "faults"; inverse of read_machine().
input::Json machine_json(const ExperimentConfig& config);
/// Value of "wire_buffers".
std::string_view wire_buffers_key(const ExperimentConfig& config);
/// Adds "simulation", "engine" and, if intervals are requested, "uncertainty".
void add_simulation_keys(const ExperimentConfig& config, input::Json& json);

/// Returns the configuration under `key`, or the contents of the file it names, relative to
/// `folder`; unvalidated. @throws InputError if it is neither, or if the file does not contain a
/// JSON object
input::Json read_config_or_path(input::ObjectReader& reader, std::string_view key,
                                const std::filesystem::path& folder);

/// The configuration with all defaults filled in; read_config() restores it.
input::Json to_json(const ExperimentConfig& config);

/// Schema of an experiment, with annotations.
input::Json experiment_schema();
/// Schema of an object with the keys of the simulation itself, with annotations.
input::Json simulation_schema();
/// Schema of "wire_buffers".
input::Json wire_buffers_schema();

}  // namespace equarx::config
