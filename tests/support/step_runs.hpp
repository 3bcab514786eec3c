// Runs of steps for tests.
#pragma once

#include "base/input/json.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/step/run.hpp"

namespace equarx::testing {

/// Plan of a step.
inline step::StepPlan step_plan_of(const input::Json& json) {
  return step::make_plan(config::read_step_config(json));
}

/// Result of a step, without progress.
inline step::StepResult run_step(const input::Json& json) {
  return step::run_step(step_plan_of(json), [](const std::string&) {});
}

}  // namespace equarx::testing
