// Results that collectives and steps have in common.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/variation/variation.hpp"
#include "models/hardware/energy.hpp"
#include "models/values/nonfinite_inputs.hpp"
#include "sim/time_executor.hpp"

namespace equarx::run {

/// Effect of a failed link on a run.
struct FailureReport {
  double time_s = 0.0;  ///< when a chip noticed
  std::string link;
  std::string from;
  std::string to;
  std::string transfer;  ///< description of the lost transfer
};

/// Timing of a collective, or of a variant of a step.
struct TimedRun {
  std::string label;
  double time_s = 0.0;            ///< of a failed run: the time of failure
  std::optional<double> speedup;  ///< baseline time / this time; unset if either failed
  double lower_bound_s = 0.0;
  std::uint32_t chips = 0;
  bool calibrated = false;        ///< see hardware::Chip::is_calibrated()
  double core_busy_s = 0.0;       ///< of the busiest core, or of the chip that ends last
  std::uint64_t messages = 0;     ///< simulated
  bool symmetric = false;         ///< some chips were simulated for all
  std::string simulation_reason;  ///< why, or why not
  sim::Engine engine = sim::Engine::direct;
  hardware::Expenses expenses;                        ///< of all chips; unset if it failed
  std::optional<variation::Uncertainty> uncertainty;  ///< if requested
  std::optional<FailureReport> failure;               ///< of a link that it needs
};

/// Runs that are compared with one of them, and their configuration.
template <typename Config, std::derived_from<TimedRun> Run>
struct Results {
  Config config;  ///< with every default filled in
  std::vector<Run> runs;
  std::vector<variation::Sensitivity> sensitivities = {};  ///< if requested, largest first
  /// Inputs with NaN or Inf; empty without values, and if a sample misses all of them.
  std::vector<values::NonfiniteInput> nonfinite_inputs = {};

  /// Labels of the runs.
  std::vector<std::string> labels() const {
    std::vector<std::string> labels;
    for (const Run& run : runs) labels.push_back(run.label);
    return labels;
  }
  /// True if a run did not finish, so that its time on another machine is meaningless.
  bool has_failed() const {
    return std::ranges::any_of(runs, [](const Run& run) { return run.failure.has_value(); });
  }
};

/// Sets the speedups over a run; std::nullopt if it or the run itself has failed.
template <std::derived_from<TimedRun> Run>
void set_speedups(std::vector<Run>& runs, std::size_t baseline) {
  const bool has_baseline = !runs[baseline].failure.has_value();
  const double baseline_s = runs[baseline].time_s;
  for (Run& run : runs) {
    run.speedup = std::nullopt;
    if (has_baseline && !run.failure) run.speedup = baseline_s / run.time_s;
  }
}

}  // namespace equarx::run
