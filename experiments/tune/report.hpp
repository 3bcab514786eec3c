// What tuning has found: as a table, as JSON, and as a configuration to run.
#pragma once

#include <string>

#include "experiments/input/object_reader.hpp"
#include "experiments/tune/tune.hpp"

namespace equarx::tune {

/// `config`, which was tuned, with its baseline and the best candidate as its only collectives.
input::Json best_config(const input::Json& config, const TuneResult& result);

/// For programs; docs/tuning.md describes it. `config` as for best_config().
input::Json to_json(const TuneResult& result, const input::Json& config);

/// For people.
std::string to_table(const TuneResult& result);

}  // namespace equarx::tune
