// Columns of the table of a sweep that come from the configuration of a point.
#pragma once

#include <string>
#include <vector>

#include "experiments/config/any_config.hpp"
#include "experiments/sweep/line_fields.hpp"

namespace equarx::sweep {

/// Fields of a collective that is compared with others.
struct CollectiveSummary {
  std::string label;
  std::vector<Field> fields;  ///< `format` and `quantize`, if it has them
};

/// A configuration, independent of the axes.
struct PointSummary {
  std::vector<Field> machine_and_tensor;       ///< plain texts and numbers
  std::vector<CollectiveSummary> collectives;  ///< a step has none
};

/// The summary of an experiment or a step.
PointSummary summary_of(const config::AnyConfig& config);

}  // namespace equarx::sweep
