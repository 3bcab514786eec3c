// The one place where experiment configurations meet JSON.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/input/json_text.hpp"
#include "experiments/input/object_reader.hpp"

namespace equarx::config {

/// Reads a configuration. @throws InputError for anything that is not right.
ExperimentConfig read_config(const input::Json& json);

/// What configurations of every kind have: the machine, and what simulates it. @throws InputError
ExperimentConfig read_machine(input::ObjectReader& reader);

/// "hardware", "topology" and "faults", as read_machine() reads them.
input::Json machine_json(const ExperimentConfig& config);
/// "wire_buffers" likewise.
std::string_view wire_buffers_key(const ExperimentConfig& config);
/// Adds "simulation" and "engine" likewise.
void add_simulation_keys(const ExperimentConfig& config, input::Json& json);

/// A configuration, or that of the file whose path, from `folder`, stands in its place; as it is written, and
/// not checked. @throws InputError if it is neither, or if the file is no JSON object
input::Json read_config_or_path(input::ObjectReader& reader, std::string_view key,
                                const std::filesystem::path& folder);

/// The configuration with every default filled in; read_config() gives the same configuration again.
input::Json to_json(const ExperimentConfig& config);

}  // namespace equarx::config
