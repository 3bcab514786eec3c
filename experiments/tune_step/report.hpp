// What the tuning of a step has found: as tables, as JSON, and as a configuration to run.
#pragma once

#include <string>

#include "experiments/input/object_reader.hpp"
#include "experiments/tune_step/tune.hpp"

namespace equarx::tune_step {

/// `config`, which was tuned, with the baseline and what is better than it as its variants.
input::Json best_config(const input::Json& config, const StepTuneResult& result);

/// For programs; docs/results.md describes it. `config` as for best_config().
input::Json to_json(const StepTuneResult& result, const input::Json& config);

/// For people.
std::string to_table(const StepTuneResult& result);

}  // namespace equarx::tune_step
