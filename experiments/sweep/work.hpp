// Estimates of the work of a sweep's points, by which progress is weighted.
#pragma once

#include <cstddef>
#include <vector>

#include "base/input/object_reader.hpp"
#include "experiments/sweep/point_set.hpp"

namespace equarx::sweep {

/// Estimates how long one core takes to compute a configuration of either kind, in seconds, from
/// its messages and elements. An invalid configuration takes hardly any time.
double estimate_work_s(const input::Json& config);

/// Estimated work of the points of a shard. In a large shard, some points stand for their
/// neighbours, so that the estimates take little time.
class WorkEstimates {
 public:
  /// Largest number of points whose work is estimated.
  static constexpr std::size_t kMostEstimates = 2000;

  WorkEstimates(const PointSet& points, const std::vector<std::size_t>& shard);

  /// Work of the point at an index of the shard, in seconds.
  double of(std::size_t index) const { return estimates_[index / stride_]; }
  /// Work of all points of the shard, in seconds.
  double total() const { return total_; }

 private:
  std::size_t stride_ = 1;  ///< number of neighbours that share an estimate
  std::vector<double> estimates_;
  double total_ = 0.0;
};

}  // namespace equarx::sweep
