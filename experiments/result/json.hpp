#pragma once

#include <string>
#include <vector>

#include "experiments/input/object_reader.hpp"
#include "experiments/run/experiment.hpp"

namespace equarx::result {

/// What a result in JSON has besides what it always has.
struct JsonOptions {
  bool links = false;  ///< with what crossed every link direction
};

/// A result with all that made it: version, resolved configuration and its hash, every parameter of the
/// chip with its class. configs/schema/result.schema.json describes it.
input::Json to_json(const run::ExperimentResult& result, const JsonOptions& options = {});

/// One run of it.
input::Json to_json(const run::RunResult& run, const JsonOptions& options = {});

/// The names of all numbers that a run of this configuration may have: "speedup", "numerics/mse". Those of
/// lists, as of links, are left out.
std::vector<std::string> number_names(const config::ExperimentConfig& config);

}  // namespace equarx::result
