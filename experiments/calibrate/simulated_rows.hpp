// The simulator as a model: chip parameters to simulated measurements.
#pragma once

#include <vector>

#include "experiments/calibrate/model.hpp"
#include "experiments/calibrate/task.hpp"

namespace equarx::calibrate {

/// Maps points to values of selected parameters of a chip.
struct VariedChip {
  hardware::Chip chip;
  std::vector<const hardware::ParameterInfo*> parameters;

  /// Returns the chip with the values of a point.
  hardware::Chip at(const Point& point) const;
  /// Returns the chip's current values.
  Point point() const;
  /// Times and rates have no upper limit; the lower limit of rates is a thousandth of their value.
  std::vector<ParameterLimits> limits() const;
};

/// Model that simulates the measurements `rows` of the task in parallel. Keeps a reference to
/// `task`. Throws InputError with the measurement's pointer if one is infeasible.
Model simulated_rows(const CalibrationTask& task, std::vector<std::size_t> rows, VariedChip varied);

}  // namespace equarx::calibrate
