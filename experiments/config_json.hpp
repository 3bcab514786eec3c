// The one place where experiment configurations meet JSON.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/config.hpp"
#include "experiments/object_reader.hpp"

namespace equarx::experiments {

/// Parses JSON text. @throws InputError with line and column for malformed text, and for a key that an
/// object has twice.
Json parse_json(std::string_view text);

/// Reads the file. @throws InputError if it cannot be read.
std::string read_file(const std::string& path);

/// Sets the value at a JSON pointer, as `--set` does: `text` is JSON, or a plain string if it is not.
/// Setting one of several alternatives (a tensor's `bytes` or `shape`; the kinds of topology) removes the
/// others. @throws InputError for a pointer that leads nowhere.
void override_value(Json& config, const std::string& pointer, const std::string& text);

/// Reads a configuration. @throws InputError for anything that is not right.
ExperimentConfig read_config(const Json& json);

/// The configuration with every default filled in; read_config() gives the same configuration again.
Json to_json(const ExperimentConfig& config);

/// Names in configurations and results.
std::string_view name(Algorithm algorithm);
std::string_view name(QuantizedPhases phases);

}  // namespace equarx::experiments
