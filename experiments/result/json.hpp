#pragma once

#include <string>
#include <vector>

#include "base/input/object_reader.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/variation/discrepancy.hpp"

namespace equarx::result {

/// Optional parts of a result in JSON.
struct JsonOptions {
  bool links = false;  ///< traffic of every link direction
};

/// Converts a result, with all it was computed from: version, resolved configuration and its hash,
/// and every parameter of the chip with its class (configs/schema/result.schema.json).
input::Json to_json(const run::ExperimentResult& result, const JsonOptions& options = {});

/// First members of a result: version, resolved configuration and its hash, the parameters of the
/// chip, and the evidence for such figures. `machine`: the machine of the configuration; `asked`: its
/// question.
input::Json result_head(const input::Json& config, const config::ExperimentConfig& machine,
                        const accuracy::Asked& asked);

/// Converts one run of a result.
input::Json to_json(const run::RunResult& run, const JsonOptions& options = {});

/// Converts a run without links, bounds and breakdown: its time and values.
input::Json short_json(const run::RunResult& run);

/// Converts an interval.
input::Json to_json(const variation::Uncertainty& uncertainty);

/// Adds what follows the runs in the result of collectives or of a step, if there is any: their
/// sensitivities, and the inputs with NaN or Inf. `labels`: of the runs
void add_after_runs(const std::vector<variation::Sensitivity>& sensitivities,
                    const std::vector<std::string>& labels,
                    const std::vector<values::NonfiniteInput>& nonfinite_inputs, input::Json& json);

/// The same of a result.
template <typename Config, typename Run>
void add_after_runs(const run::Results<Config, Run>& result, input::Json& json) {
  add_after_runs(result.sensitivities, result.labels(), result.nonfinite_inputs, json);
}

/// Returns the names of all numbers that a run of this configuration may have: "speedup",
/// "numerics/mse", ... Numbers in lists, such as links, are left out.
std::vector<std::string> number_names(const config::ExperimentConfig& config);

}  // namespace equarx::result
