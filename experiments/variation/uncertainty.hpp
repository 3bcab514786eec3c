// Monte Carlo uncertainty of times: the same runs on machines with sampled parameters.
#pragma once

#include <vector>

#include "experiments/variation/variation.hpp"
#include "models/hardware/uncertainty.hpp"

namespace equarx::variation {

/// Returns draw `number` of a machine: its chip from hardware::ChipSampler, the parameters of its
/// network independently. Depends only on seed and number.
class MachineSampler {
 public:
  explicit MachineSampler(const config::MachineParameters& machine);

  config::MachineParameters draw(std::uint64_t seed, std::uint64_t number) const;

 private:
  config::MachineParameters machine_;
  hardware::ChipSampler chips_;
};

/// Factor of all times of a sample, lognormal with this spread: the discrepancy of the model. Depends
/// only on its arguments.
double time_factor(double spread, std::uint64_t seed, std::uint64_t number);

/// Completes a request: without a number of samples, 200, or fewer if the runs are large, so that
/// all samples simulate up to 20 million messages (about a minute of one core), but at least 20. The
/// number does not depend on this computer. `messages`: simulated for one sample
config::UncertaintyConfig with_default_samples(config::UncertaintyConfig requested,
                                               double messages);

/// Times the runs on `requested.samples` sampled machines, and multiplies the figures of each sample
/// by lognormal factors with the spreads of `runs`. Machines on which a run fails are left out.
/// Empty if no parameter is uncertain and no spread is known. `progress` is called with a line, from
/// one thread at a time.
std::vector<std::vector<Timing>> sample(const Varied& runs,
                                        const config::UncertaintyConfig& requested,
                                        const Progress& progress);

/// Share of the values below an interval, and above it: standard normal CDF at -1.
inline constexpr double kBelowInterval = 0.1586552539314571;

/// Returns the 16 % and 84 % quantiles (accuracy::quantile()). `values` must not be empty.
Interval interval_of(std::vector<double> values);

/// Returns the uncertainty of each run; empty without samples. `samples`: of sample().
std::vector<Uncertainty> uncertainties(const std::vector<std::vector<Timing>>& samples);

}  // namespace equarx::variation
