// Configurations that are computed side by side, each with a number.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiments/input/object_reader.hpp"
#include "experiments/plan/engine.hpp"

namespace equarx::sweep {

/// One of several parts of a set of points: every `count`-th point.
struct SweepShard {
  std::size_t index = 1;  ///< from 1 to `count`
  std::size_t count = 1;
};

/// The points of one sweep, or of several that are run together. They are numbered from 0.
class PointSet {
 public:
  virtual ~PointSet() = default;

  virtual std::size_t size() const = 0;
  /// Which sweep of several a point is of. Empty if there is only one.
  virtual std::string experiment(std::size_t point) const = 0;
  /// Names the configuration that all points are made of, so that their results can be told from those of
  /// another one. Empty if there is no such configuration.
  virtual std::string base() const { return {}; }
  /// What one looks at: all points together, or each.
  virtual plan::Look look() const { return plan::Look::at_many; }
  /// The keys of all axes, as JSON pointers, each once.
  virtual std::vector<std::string> axis_keys() const = 0;
  /// The values of a point's axes, by JSON pointer.
  virtual input::Json axes(std::size_t point) const = 0;
  /// @throws InputError if an axis leads nowhere in the base.
  virtual input::Json config(std::size_t point) const = 0;

  /// The numbers of a shard's points.
  std::vector<std::size_t> in_shard(const SweepShard& shard) const;

 protected:
  PointSet() = default;
  PointSet(const PointSet&) = default;
  PointSet& operator=(const PointSet&) = default;
};

}  // namespace equarx::sweep
