// Renders the result of tuning a step as tables, as JSON, and as a configuration to run.
#pragma once

#include <string>

#include "base/input/object_reader.hpp"
#include "experiments/tune_step/tune.hpp"

namespace equarx::tune_step {

/// The tuned `config` with the baseline and its improvements as variants.
input::Json best_config(const input::Json& config, const StepTuneResult& result);

/// JSON as described in docs/results.md. `config`: as for best_config()
input::Json to_json(const StepTuneResult& result, const input::Json& config);

/// Tables with notes.
std::string to_table(const StepTuneResult& result);

}  // namespace equarx::tune_step
