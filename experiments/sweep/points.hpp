// Points of a sweep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/sweep/point_set.hpp"
#include "experiments/sweep/sweep.hpp"

namespace equarx::sweep {

/// The points of a sweep: all combinations of its axes' values that are not excluded.
class SweepPoints : public PointSet {
 public:
  /// @throws InputError if there are no points, or more than kMostCombinations combinations
  explicit SweepPoints(Sweep sweep);

  /// Points are numbered from 0, the last axis fastest.
  std::size_t size() const override { return combinations_.size(); }
  std::string experiment(std::size_t) const override { return {}; }
  std::string base() const override { return base_; }
  std::vector<std::string> axis_keys() const override;
  input::Json axes(std::size_t point) const override;
  input::Json config(std::size_t point) const override;

  std::size_t excluded() const { return excluded_; }
  const Sweep& sweep() const { return sweep_; }

  /// Checks that the sweep can run: every axis is a key of the configuration, no axis overrides
  /// another, and each value of each axis gives at least one valid configuration. @throws
  /// InputError that names the axis
  void check() const;

 private:
  std::vector<std::size_t> steps(std::uint64_t combination) const;  ///< by axis
  bool is_excluded(std::uint64_t combination) const;
  void check_axes_hold() const;

  Sweep sweep_;
  std::string base_;
  std::vector<std::uint64_t> combinations_;  ///< by point
  std::size_t excluded_ = 0;
};

}  // namespace equarx::sweep
