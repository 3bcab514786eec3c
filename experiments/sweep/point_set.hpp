// A numbered set of configurations, which are computed in parallel.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/input/object_reader.hpp"

namespace equarx::sweep {

/// One of several parts of a set of points: every `count`-th point.
struct SweepShard {
  std::size_t index = 1;  ///< from 1 to `count`
  std::size_t count = 1;
};

/// The points of one sweep, or of several that run together. Points are numbered from 0.
class PointSet {
 public:
  virtual ~PointSet() = default;

  virtual std::size_t size() const = 0;
  /// Name of the sweep that a point belongs to. Empty if there is only one.
  virtual std::string experiment(std::size_t point) const = 0;
  /// Identifies the configuration that all points are derived from, to distinguish their results
  /// from results of another base. Empty if there is no common base.
  virtual std::string base() const { return {}; }
  /// The keys of all axes, as JSON pointers, each once.
  virtual std::vector<std::string> axis_keys() const = 0;
  /// The values of a point's axes, by JSON pointer.
  virtual input::Json axes(std::size_t point) const = 0;
  /// Returns the configuration of a point. @throws InputError if an axis does not exist in the base
  virtual input::Json config(std::size_t point) const = 0;

  /// Returns the numbers of a shard's points.
  std::vector<std::size_t> in_shard(const SweepShard& shard) const;

 protected:
  PointSet() = default;
  PointSet(const PointSet&) = default;
  PointSet& operator=(const PointSet&) = default;
};

}  // namespace equarx::sweep
