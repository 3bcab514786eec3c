// Results of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/plan/plan.hpp"
#include "experiments/run/breakdown.hpp"
#include "experiments/variation/variation.hpp"
#include "models/hardware/energy.hpp"
#include "models/values/nonfinite_inputs.hpp"
#include "models/values/value_executor.hpp"

namespace equarx::run {

/// Usage of one link direction.
struct LinkUse {
  std::string name;
  std::string from;  ///< empty if only representative chips were simulated
  std::string to;
  std::uint64_t bytes = 0;
  double busy_s = 0.0;  ///< time that transfers held it

  double utilisation(double time_s) const { return time_s > 0.0 ? busy_s / time_s : 0.0; }
};

/// Effect of a failed link on a run.
struct FailureReport {
  double time_s = 0.0;  ///< when a chip noticed
  std::string link;
  std::string from;
  std::string to;
  std::string transfer;  ///< description of the lost transfer
};

/// An algorithm considered by `auto`.
struct Candidate {
  config::Algorithm algorithm = nullptr;
  std::optional<double> time_s;  ///< set if simulated to its end
  std::string note;              ///< otherwise, the reason
  hardware::Protocol protocol = hardware::Protocol::none;
};

/// Busy and waiting times of a core in seconds, averaged over all chips.
struct CoreTime {
  double busy_s = 0.0;
  sim::Waits waits;
};

/// The results of one collective.
struct RunResult {
  std::string label;
  config::Algorithm algorithm = nullptr;
  hardware::Protocol protocol = hardware::Protocol::none;
  double time_s = 0.0;            ///< of a failed run: the time of failure
  double bus_bytes = 0.0;         ///< per rank, by the definition of nccl-tests
  std::optional<double> speedup;  ///< baseline time / this time; unset if either failed
  double lower_bound_s = 0.0;
  std::uint64_t wire_bytes_per_link = 0;  ///< largest over link directions
  std::uint32_t chips = 0;
  bool calibrated = false;        ///< see hardware::Chip::is_calibrated()
  std::uint64_t messages = 0;     ///< simulated
  bool symmetric = false;         ///< some chips were simulated for all
  std::string simulation_reason;  ///< why, or why not
  sim::Engine engine = sim::Engine::simgrid;
  std::string engine_reason;
  std::optional<collectives::Cut> cut;       ///< set if all chunks have the same tiling
  std::string cut_reason;                    ///< how the tiling was chosen
  std::optional<double> elements_per_scale;  ///< mean; see collectives::elements_per_scale()
  double core_busy_s = 0.0;                  ///< of the busiest core
  CoreTime core;
  /// Busy share of the busiest HBM, by DMAs and the program; unset if DMAs do not use HBM.
  std::optional<double> hbm_busy_share;
  Breakdown breakdown;
  std::vector<LinkUse> links;
  std::optional<variation::Uncertainty> uncertainty;  ///< if requested
  std::optional<FailureReport> failure;
  hardware::Expenses expenses;                  ///< of all chips; unset if it failed
  std::vector<Candidate> candidates;            ///< of `auto`: all algorithms considered
  std::optional<values::ValueResult> numerics;  ///< unset if switched off
};

/// Results of an experiment, with its configuration.
struct ExperimentResult {
  config::ExperimentConfig config;  ///< with every default filled in
  std::vector<RunResult> runs;
  std::vector<variation::Sensitivity> sensitivities;  ///< if requested, largest first
  /// Inputs with NaN or Inf; empty without numerics, and if a sample misses all of them.
  std::vector<values::NonfiniteInput> nonfinite_inputs;

  /// Labels of the runs.
  std::vector<std::string> labels() const {
    std::vector<std::string> labels;
    for (const RunResult& run : runs) labels.push_back(run.label);
    return labels;
  }
};

}  // namespace equarx::run
