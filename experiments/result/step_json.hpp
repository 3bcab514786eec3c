// JSON of step results.
#pragma once

#include <string>
#include <vector>

#include "base/input/object_reader.hpp"
#include "experiments/result/json.hpp"
#include "experiments/step/results.hpp"

namespace equarx::result {

/// The complete result with its configuration (docs/results.md).
input::Json to_json(const step::StepResult& result, const JsonOptions& options = {});

/// Metrics of one variant with its label, as stored by sweeps and studies.
input::Json numbers_json(const step::VariantResult& variant);
/// Names of the metrics that a variant of this configuration may have.
std::vector<std::string> number_names(const config::StepConfig& config);

}  // namespace equarx::result
