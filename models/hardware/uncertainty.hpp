// Chips as they may be, as far as their parameters are not known exactly.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/hardware/chip.hpp"

namespace equarx::hardware {

/// Keys of the parameters that have a standard_uncertainty(), in the order of parameters(). A count has none.
std::vector<std::string_view> uncertain_parameters(const Chip& chip);

/// Draws chips at random.
///
/// Parameters of the chip's calibration come from one normal distribution with its covariance: what was
/// fitted together errs together. Of the others, a range is uniform, and a standard error normal. What no chip can
/// be (a time below 0, a ratio above 1 or not above 0) is drawn again. Parameters without uncertainty stay.
class ChipSampler {
 public:
  explicit ChipSampler(const Chip& chip);

  /// The same chip for the same seed and number, whatever was drawn before.
  Chip draw(std::uint64_t seed, std::uint64_t number) const;

 private:
  struct Drawn {
    Parameter Chip::*member = nullptr;
    const ParameterInfo* info = nullptr;
    double deviation = 0.0;  ///< standard uncertainty
  };
  class Random;

  // Both draw once, and say whether a chip can be so.
  bool draw_together(Random& random, Chip& chip) const;
  bool draw_alone(const Drawn& one, Random& random, Chip& chip) const;

  Chip chip_;
  std::vector<Drawn> together_;  ///< of the calibration
  std::vector<double> factor_;   ///< Cholesky factor of their correlation, row-major
  std::vector<Drawn> on_its_own_;
};

}  // namespace equarx::hardware
