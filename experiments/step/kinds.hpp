// Mean over the kinds of step of a variant.
#pragma once

#include <vector>

#include "experiments/step/results.hpp"
#include "models/hardware/energy.hpp"

namespace equarx::step {

/// A simulated kind of step.
struct SimulatedKind {
  config::StepKind kind;
  VariantResult result;
  hardware::Activity activity;
};

/// Means of times, groups, idle shares and expenses, weighted by the shares of the kinds. Tasks,
/// critical path, engine and messages are of the first. `kinds`: at least one
VariantResult mean_of(const config::StepConfig& config, std::vector<SimulatedKind> kinds);

}  // namespace equarx::step
