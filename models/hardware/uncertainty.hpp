// Sampling of uncertain chip parameters.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/hardware/chip.hpp"

namespace equarx::hardware {

/// Keys of the parameters with a standard_uncertainty() that affect times, in the order of
/// parameters(). Counts are exact.
std::vector<std::string_view> uncertain_parameters(const Chip& chip);

/// Draws from the standard normal distribution. Depends only on its arguments; streams of one draw
/// are independent.
double standard_normal(std::uint64_t seed, std::uint64_t number, std::uint64_t stream);

/// Draws a value of a parameter from its uncertainty alone: normally for a standard error, uniformly
/// from a range, else its value. Impossible values (a negative time, a ratio outside (0, 1]) are
/// redrawn. Depends only on seed, number and stream; streams of one draw are independent.
double draw_value(const ParameterInfo& info, const Parameter& parameter, std::uint64_t seed,
                  std::uint64_t number, std::uint64_t stream);

/// Draws chips from the distribution of their parameters.
///
/// Parameters of the chip's calibration are drawn from one multivariate normal distribution with
/// its covariance. Other parameters are drawn independently: uniformly from a range, normally for a
/// standard error. Impossible values (a negative time, a ratio outside (0, 1]) are redrawn.
/// Parameters without uncertainty keep their value.
class ChipSampler {
 public:
  explicit ChipSampler(const Chip& chip);

  /// Returns draw `number`. Depends only on seed and number, not on earlier draws.
  Chip draw(std::uint64_t seed, std::uint64_t number) const;

  class Random;

 private:
  struct Drawn {
    Parameter Chip::*member = nullptr;
    const ParameterInfo* info = nullptr;
    double deviation = 0.0;  ///< standard uncertainty
  };

  // Both draw once and return true if the values are possible.
  bool draw_correlated(Random& random, Chip& chip) const;
  bool draw_independent(const Drawn& parameter, Random& random, Chip& chip) const;

  Chip chip_;
  std::vector<Drawn> correlated_;  ///< parameters of the calibration
  std::vector<double> factor_;     ///< Cholesky factor of their correlation, row-major
  std::vector<Drawn> independent_;
};

}  // namespace equarx::hardware
