// Runs an experiment: values, time, and the checks that hold them together.
#pragma once

#include <functional>
#include <string>

#include "experiments/plan/plan.hpp"
#include "experiments/run/observer.hpp"
#include "experiments/run/result_keeper.hpp"
#include "experiments/run/results.hpp"

namespace equarx::run {

/// Called before each part of the work with a line about it.
using Progress = std::function<void(const std::string&)>;
/// Called now and then within a part, with the share of it that is done, 0 to 1.
using ShareDone = std::function<void(double)>;

/// How an experiment is run; none of it changes a result.
struct ExperimentOptions {
  unsigned value_threads = 0;       ///< that compute values and intervals; 0: one for each core
  bool sensitivity = false;         ///< find out what times depend on, too
  RunObserver* observer = nullptr;  ///< gets the events of the collectives that it wants
  ResultKeeper* keeper = nullptr;   ///< gets the results of all collectives, if values are computed
  ShareDone share = {};             ///< for who waits
};

/// Runs every collective of the plan. No other thread may be running in this process (sim::simulate).
/// @throws InvariantError if a result breaks a bound or a conservation law.
ExperimentResult run_experiment(const plan::Plan& plan, const Progress& progress,
                                const ExperimentOptions& options = {});

}  // namespace equarx::run
