// Runs repeated on machines with other parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiments/config/machine_parameters.hpp"

namespace equarx::variation {

/// Timing of one run on one machine.
struct Timing {
  double time_s = 0.0;
  double speedup = 0.0;  ///< the baseline's time / this time
};

/// Timings of runs, in order. `baseline`: index of the run that speedups refer to
inline std::vector<Timing> timings_of(const std::vector<double>& times_s, std::size_t baseline) {
  std::vector<Timing> timings;
  for (const double time_s : times_s) timings.push_back({time_s, times_s[baseline] / time_s});
  return timings;
}

/// Standard deviations of the logarithm of a run's figures that the uncertainty of parameters leaves
/// out (discrepancy.hpp); 0 if unknown.
struct Spread {
  double time = 0.0;     ///< of all times of the machine alike
  double speedup = 0.0;  ///< of the speedup over the baseline, alike for all runs; 0 for itself
};

/// A set of runs that can be timed on other machines: the collectives of an experiment, or the
/// variants of a step.
struct Varied {
  config::MachineParameters machine;  ///< nominal
  /// Times all runs on a machine, in a fixed order; empty if one of them fails. Called from up to
  /// `threads` threads at once. @throws InputError if the machine cannot run them
  std::function<std::vector<Timing>(const config::MachineParameters&)> time_on;
  unsigned threads = 1;
  std::vector<Spread> spreads = {};  ///< by run; empty: none
};

/// Central 68 % interval: 16 % of the values lie below and 16 % above.
struct Interval {
  double low = 0.0;
  double high = 0.0;
};

/// Uncertainty of a run's figures: of the machine's parameters, and the discrepancy of the model.
struct Uncertainty {
  std::uint32_t samples = 0;  ///< number of sampled machines
  Interval time_s;
  Interval speedup;
};

/// Change of figures in per cent if a parameter grows by 1 %.
struct Elasticity {
  double time = 0.0;
  double speedup = 0.0;
};

/// Sensitivity of all runs to one parameter.
struct Sensitivity {
  std::string parameter;
  double value = 0.0;  ///< in the base unit
  std::string text;    ///< value with its unit
  hardware::Provenance provenance = hardware::Provenance::assumed;
  double relative_uncertainty = 0.0;  ///< standard uncertainty / value; 0: taken as exact
  std::vector<Elasticity> runs;       ///< in the order of the runs
};

/// Called with a progress message.
using Progress = std::function<void(const std::string&)>;

}  // namespace equarx::variation
