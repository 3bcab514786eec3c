// What tuning has found: as a table, as JSON, and as a configuration to run.
#pragma once

#include <string>

#include "experiments/object_reader.hpp"
#include "experiments/tune.hpp"

namespace equarx::experiments {

/// `config`, which was tuned, with its baseline and the best candidate as its only collectives.
Json best_config(const Json& config, const TuneResult& result);

/// For programs; docs/tuning.md describes it. `config` as for best_config().
Json to_json(const TuneResult& result, const Json& config);

/// For people.
std::string to_table(const TuneResult& result);

}  // namespace equarx::experiments
