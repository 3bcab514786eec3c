#pragma once

#include "experiments/config/config.hpp"

namespace equarx::testing {

/// Plans an experiment, unless that may take long. @throws InputError for what cannot be had
void plan_if_small(const config::ExperimentConfig& config);

}  // namespace equarx::testing
