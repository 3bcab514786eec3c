// Runs an experiment: values, times, and the invariants between them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "experiments/plan/plan.hpp"
#include "experiments/run/observer.hpp"
#include "experiments/run/result_sink.hpp"
#include "experiments/run/results.hpp"

namespace equarx::run {

/// Called before each part of the work with a line that describes it.
using Progress = std::function<void(const std::string&)>;
/// Called periodically within a part with the completed fraction, 0 to 1.
using ShareDone = std::function<void(double)>;

/// Options of a run. None of them changes a result.
struct ExperimentOptions {
  unsigned threads = 0;             ///< of values, simulations and intervals; 0: one per core
  bool sensitivity = false;         ///< also compute sensitivities to chip parameters
  RunObserver* observer = nullptr;  ///< receives the events of the collectives it selects
  ResultSink* sink = nullptr;       ///< receives all results if values are computed
  ShareDone share = {};             ///< for progress displays
};

/// Runs every collective of the plan. Requires that this process has no other running thread
/// (sim::simulate). @throws InvariantError if a result violates a bound or a conservation law.
ExperimentResult run_experiment(const plan::Plan& plan, const Progress& progress,
                                const ExperimentOptions& options = {});

}  // namespace equarx::run
