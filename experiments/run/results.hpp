// Results of collectives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/plan/plan.hpp"
#include "experiments/run/breakdown.hpp"
#include "experiments/run/timed_run.hpp"
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
struct RunResult : TimedRun {
  config::Algorithm algorithm = nullptr;
  hardware::Protocol protocol = hardware::Protocol::none;
  double bus_bytes = 0.0;                 ///< per rank, by the definition of nccl-tests
  std::uint64_t wire_bytes_per_link = 0;  ///< largest over link directions
  std::string engine_reason;
  std::optional<collectives::Cut> cut;       ///< set if all chunks have the same tiling
  std::string cut_reason;                    ///< how the tiling was chosen
  std::optional<double> elements_per_scale;  ///< mean; see collectives::elements_per_scale()
  CoreTime core;
  /// Busy share of the busiest HBM, by DMAs and the program; unset if DMAs do not use HBM.
  std::optional<double> hbm_busy_share;
  Breakdown breakdown;
  std::vector<LinkUse> links;
  std::vector<Candidate> candidates;            ///< of `auto`: all algorithms considered
  std::optional<values::ValueResult> numerics;  ///< unset if switched off
};

/// Results of an experiment.
using ExperimentResult = Results<config::ExperimentConfig, RunResult>;

}  // namespace equarx::run
