// Renders the result of a search for layouts as tables, as JSON, and as a configuration to run.
#pragma once

#include <string>

#include "base/input/json_value.hpp"
#include "experiments/tune_layouts/tune.hpp"

namespace equarx::tune_layouts {

/// The configuration with the fastest layout and unquantized collectives.
input::Json best_config(const TuneResult& result);

/// JSON as described in docs/results.md.
input::Json to_json(const TuneResult& result);

/// Tables with notes.
std::string to_table(const TuneResult& result);

}  // namespace equarx::tune_layouts
