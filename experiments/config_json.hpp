// The one place where experiment configurations meet JSON.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/config.hpp"
#include "experiments/json_text.hpp"
#include "experiments/object_reader.hpp"

namespace equarx::experiments {

/// Reads a configuration. @throws InputError for anything that is not right.
ExperimentConfig read_config(const Json& json);

/// The configuration with every default filled in; read_config() gives the same configuration again.
Json to_json(const ExperimentConfig& config);

/// Names in configurations and results.
std::string_view name(Algorithm algorithm);
std::string_view name(QuantizedPhases phases);

}  // namespace equarx::experiments
