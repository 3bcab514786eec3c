// What a run has found out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/plan/plan.hpp"
#include "experiments/run/breakdown.hpp"
#include "models/values/value_executor.hpp"

namespace equarx::run {

/// What crossed one link direction.
struct LinkUse {
  std::string name;
  std::string from;  ///< empty where representatives were simulated
  std::string to;
  std::uint64_t bytes = 0;
  double busy_s = 0.0;  ///< time that transfers held it

  double utilisation(double time_s) const { return time_s > 0.0 ? busy_s / time_s : 0.0; }
};

/// What a link that failed did to a run.
struct FailureReport {
  double time_s = 0.0;  ///< when a chip noticed
  std::string link;
  std::string from;
  std::string to;
  std::string transfer;  ///< in words: what did not arrive
};

/// A way that `auto` looked at.
struct Candidate {
  config::Algorithm algorithm = nullptr;
  std::optional<double> time_s;  ///< if it was simulated to its end
  std::string note;              ///< if not, why
};

/// Where the time of a transformer's phase goes.
struct PhaseResult {
  double compute_s = 0.0;      ///< core time of one chip, the slowest
  double matrix_s = 0.0;       ///< of that: matrix products
  double attention_s = 0.0;    ///< of that: attention
  double elementwise_s = 0.0;  ///< of that: element-wise work and moving data
  double allreduce_s = 0.0;  ///< all other time: AllReduces, as far as nothing goes on beside them
  std::uint32_t allreduces = 0;
  bool layers_repeated = false;  ///< each kind of layer was simulated once
};

/// Between these 68 % of the values are, and as many below as above.
struct Interval {
  double low = 0.0;
  double high = 0.0;
};

/// How far the figures of a run can be trusted, as far as the chip's parameters are not known exactly.
struct Uncertainty {
  std::uint32_t samples = 0;  ///< chips that were drawn
  Interval time_s;
  Interval speedup;
};

/// What the core of a chip did and waited for, in seconds: means of all chips.
struct CoreTime {
  double busy_s = 0.0;
  sim::Waits waits;
};

/// The results of one collective.
struct RunResult {
  std::string label;
  config::Algorithm algorithm = nullptr;
  double time_s = 0.0;            ///< of a run that failed: until then
  std::optional<double> speedup;  ///< the baseline's time / this time, if neither failed
  double lower_bound_s = 0.0;
  std::uint64_t wire_bytes_per_link = 0;  ///< largest over link directions
  std::uint32_t chips = 0;
  bool calibrated = false;        ///< the chip: see hardware::Chip::is_calibrated()
  std::uint64_t messages = 0;     ///< simulated
  bool symmetric = false;         ///< timed on representative chips
  std::string simulation_reason;  ///< why they were, or were not
  sim::Engine engine = sim::Engine::simgrid;
  std::string engine_reason;
  std::optional<collectives::Cut> cut;       ///< if all chunks have the same one
  std::string cut_reason;                    ///< how it was chosen
  std::optional<double> elements_per_scale;  ///< mean; see collectives::elements_per_scale()
  double core_busy_s = 0.0;                  ///< of the busiest core
  CoreTime core;
  /// Share of the time that the busiest HBM moves bytes of DMAs and of the program, if these share it.
  std::optional<double> hbm_busy_share;
  Breakdown breakdown;
  std::vector<LinkUse> links;
  std::optional<Uncertainty> uncertainty;  ///< if it was asked for
  std::optional<PhaseResult> phase;        ///< of a workload; then times are the phase's
  std::optional<FailureReport> failure;
  std::vector<Candidate> candidates;            ///< of `auto`: those it chose among
  std::optional<values::ValueResult> numerics;  ///< none if switched off
};

/// By how many per cent figures change if a parameter grows by one.
struct Elasticity {
  double time = 0.0;
  double speedup = 0.0;
};

/// How the runs depend on a parameter of the chip.
struct Sensitivity {
  std::string parameter;
  double value = 0.0;  ///< in the base unit
  hardware::Provenance provenance = hardware::Provenance::assumed;
  double relative_uncertainty = 0.0;  ///< standard uncertainty / value; 0: it is taken as exact
  std::vector<Elasticity> runs;       ///< in the order of the collectives
};

/// What an experiment has found, with the configuration that made it.
struct ExperimentResult {
  config::ExperimentConfig config;  ///< with every default filled in
  std::vector<RunResult> runs;
  std::vector<plan::OperationTotal> operations;  ///< of a workload, on each chip
  std::vector<Sensitivity> sensitivities;        ///< if asked for, the largest first
};

}  // namespace equarx::run
