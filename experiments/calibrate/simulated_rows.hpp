// The simulator as a model: parameters of a chip in, what was measured out.
#pragma once

#include <vector>

#include "experiments/calibrate/model.hpp"
#include "experiments/calibrate/task.hpp"

namespace equarx::calibrate {

/// Which number a point has for which parameter, of a chip that is otherwise as it is.
struct VariedChip {
  hardware::Chip chip;
  std::vector<const hardware::ParameterInfo*> parameters;

  /// With the values of a point.
  hardware::Chip at(const Point& point) const;
  /// The values as they are.
  Point point() const;
  /// Times and rates have no upper limit; rates stay above a thousandth of what they are.
  std::vector<ParameterLimits> limits() const;
};

/// Simulates what `rows` of the task's measurements measured, side by side. The model keeps a pointer to `task`.
/// It throws InputError, with the measurement's place, if one cannot run.
Model simulated_rows(const CalibrationTask& task, std::vector<std::size_t> rows, VariedChip varied);

}  // namespace equarx::calibrate
