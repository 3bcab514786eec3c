// Results of a sweep as CSV.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/sweep/point_set.hpp"
#include "experiments/sweep/point_summary.hpp"
#include "experiments/sweep/store.hpp"

namespace equarx::sweep {

/// A point and the key of its results.
struct KeyedPoint {
  std::size_t point = 0;
  std::string key;
  /// For the table; null if the configuration cannot be read.
  std::shared_ptr<const PointSummary> summary = nullptr;
};

/// Returns one row per run of each point with results, in order of points. Columns: point, key,
/// experiment (if there are several), axes (by JSON pointer), hardware, topology, tensor_bytes (per
/// chip, a plain number), label, format and quantize of the collective, all other numbers and texts
/// of the run (nested names joined by '/'), error. `store` must be open.
std::string sweep_csv(const PointSet& points, const std::vector<KeyedPoint>& keyed,
                      const SweepStore& store);

}  // namespace equarx::sweep
