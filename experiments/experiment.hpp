// Runs an experiment: values, time, and the checks that hold them together.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/breakdown.hpp"
#include "experiments/config.hpp"
#include "experiments/plan.hpp"
#include "models/values/value_executor.hpp"
#include "sim/time_executor.hpp"

namespace equarx::experiments {

/// The results of one collective.
struct RunResult {
  std::string label;
  double time_s = 0.0;
  double speedup = 1.0;  ///< the baseline's time / this time
  double lower_bound_s = 0.0;
  std::uint64_t wire_bytes_per_link = 0;  ///< largest over link directions
  std::uint32_t chips = 0;
  bool symmetric = false;    ///< timed on representative chips
  double core_busy_s = 0.0;  ///< of the busiest core
  Breakdown breakdown;
  std::optional<values::ValueResult> numerics;  ///< none if switched off
};

struct ExperimentResult {
  ExperimentConfig config;  ///< with every default filled in
  std::vector<RunResult> runs;
};

/// Called before each part of the work with a line about it.
using Progress = std::function<void(const std::string&)>;

/// Runs every collective of the plan. No other thread may be running in this process (sim::simulate).
/// @throws InvariantError if a result breaks a bound or a conservation law.
ExperimentResult run_experiment(const Plan& plan, const Progress& progress);

}  // namespace equarx::experiments
