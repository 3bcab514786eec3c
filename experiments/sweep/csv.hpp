// A sweep's results as a table for other programs.
#pragma once

#include <string>
#include <vector>

#include "experiments/sweep/point_set.hpp"
#include "experiments/sweep/store.hpp"

namespace equarx::sweep {

/// A point and the key of its results.
struct KeyedPoint {
  std::size_t point = 0;
  std::string key;
};

/// One row for each run of each point that has results, by point: point, key, experiment (if there are
/// several), axes (by JSON pointer), hardware, topology, tensor_bytes (of each chip, a plain number), label,
/// format and quantize of the collective, what else the run has (nested names joined by '/'; what is not a
/// number or text is left out), error. `store` must be open.
std::string sweep_csv(const PointSet& points, const std::vector<KeyedPoint>& keyed,
                      const SweepStore& store);

}  // namespace equarx::sweep
