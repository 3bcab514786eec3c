// Simulates planned steps.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "experiments/run/tensor_files.hpp"
#include "experiments/step/plan.hpp"
#include "experiments/step/results.hpp"

namespace equarx::step {

/// Receives progress messages.
using Progress = std::function<void(const std::string&)>;

/// Simulates one variant, with the same checks as run_step(). It has no speedup.
VariantResult run_variant(const StepPlan& plan, const VariantPlan& variant,
                          const std::string& label);

/// Options of a run. None of them changes a time.
struct StepOptions {
  bool uncertainty = false;  ///< intervals, even if the configuration requests none
  bool sensitivity = false;  ///< also compute sensitivities to the machine's parameters
  unsigned threads = 0;      ///< of variants, intervals and sensitivities; 0: one per core
  run::TensorFiles* tensors = nullptr;  ///< with tensor_sets(): receives the results of collectives
};

/// Simulates all variants, and checks that no time is below its lower bound and no byte or message
/// is lost. Adds intervals if the configuration requests them and a parameter is uncertain.
/// @throws input::InvariantError if a check fails
StepResult run_step(const StepPlan& plan, const Progress& progress,
                    const StepOptions& options = {});

}  // namespace equarx::step
