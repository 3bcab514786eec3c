// Renders the result of tuning as a table, as JSON, and as a configuration to run.
#pragma once

#include <string>

#include "base/input/object_reader.hpp"
#include "experiments/tune/tune.hpp"

namespace equarx::tune {

/// The tuned `config` with its baseline and the best candidate as its only collectives.
input::Json best_config(const input::Json& config, const TuneResult& result);

/// `promise`, `reason`, `example` and `count`.
input::Json to_json(const BrokenPromises& some);

/// JSON as described in docs/results.md. `config`: as for best_config()
input::Json to_json(const TuneResult& result, const input::Json& config);

/// Table of the Pareto front with notes.
std::string to_table(const TuneResult& result);

}  // namespace equarx::tune
