#pragma once

#include "experiments/config/config.hpp"
#include "experiments/input/json_value.hpp"

namespace equarx::testing {

/// Whether a document has a task that is so many ("repeat") that others are read a hundred times meanwhile.
bool has_many_tasks(const input::Json& json);

/// Plans an experiment, unless that may take long. @throws InputError for what cannot be had
void plan_if_small(const config::ExperimentConfig& config);

}  // namespace equarx::testing
