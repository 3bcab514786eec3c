// The points of a sweep: all combinations of its axes' values that are not excluded.
#pragma once

#include <cstdint>
#include <vector>

#include "experiments/sweep/sweep.hpp"

namespace equarx::sweep {

/// One of several parts of a sweep: every `count`-th point.
struct SweepShard {
  std::size_t index = 1;  ///< from 1 to `count`
  std::size_t count = 1;
};

class SweepPoints {
 public:
  /// @throws InputError if there are no points, or more than kMostCombinations.
  explicit SweepPoints(Sweep sweep);

  /// Points are numbered from 0, the last axis fastest.
  std::size_t size() const { return combinations_.size(); }
  std::size_t excluded() const { return excluded_; }
  const Sweep& sweep() const { return sweep_; }

  /// The axes' values, by JSON pointer.
  input::Json axes(std::size_t point) const;
  /// @throws InputError if an axis leads nowhere in the base.
  input::Json config(std::size_t point) const;
  /// The numbers of a shard's points.
  std::vector<std::size_t> in_shard(const SweepShard& shard) const;

  /// Sees whether the sweep can be run at all: every axis is a key of configurations, none undoes another,
  /// and some point is a configuration. @throws InputError that names the axis
  void check() const;

 private:
  std::vector<std::size_t> steps(std::uint64_t combination) const;  ///< by axis
  bool is_excluded(std::uint64_t combination) const;
  void check_axes_hold() const;

  Sweep sweep_;
  std::vector<std::uint64_t> combinations_;  ///< by point
  std::size_t excluded_ = 0;
};

}  // namespace equarx::sweep
