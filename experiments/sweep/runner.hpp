// Runs the points of a sweep in parallel.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "experiments/sweep/csv.hpp"
#include "experiments/sweep/point_set.hpp"
#include "experiments/sweep/store.hpp"

namespace equarx::sweep {

/// Options of running a sweep.
struct SweepOptions {
  std::size_t jobs = 1;  ///< number of processes
  SweepShard shard = {};
  bool retry = false;  ///< recompute points that failed earlier
};

/// Progress of a sweep.
struct SweepStatus {
  std::size_t points = 0;    ///< of the shard
  std::size_t done = 0;      ///< of these, including earlier results and failed points
  std::size_t computed = 0;  ///< by this run
  std::size_t does_not_fit = 0;
  std::size_t failed = 0;
  double done_share = 0.0;            ///< of the estimated work of the points
  std::optional<double> left_s = {};  ///< estimated from the points computed so far
};

/// Outcome of a sweep.
struct SweepOutcome {
  SweepStatus status;
  std::vector<KeyedPoint> keyed;  ///< the shard's points; all of them unless interrupted
  int signal = 0;                 ///< signal that interrupted the sweep; 0 if none did
};

/// Computes the points of the shard that are missing in `store`, which must be open, and appends
/// their results as they finish. A failed point is stored with its error, and a point that needs
/// more HBM than its chips have with that size. Requires that this
/// process has no other running thread. @throws InputError if the store cannot be written; earlier
/// results remain in it
SweepOutcome run_sweep(const PointSet& points, SweepStore& store, const SweepOptions& options,
                       const std::function<void(const SweepStatus&)>& show);

/// Drops all lines from `store`, which must be open, but the lines of these points, which get this
/// order and the current numbers and axes. Results of an earlier state of the sweep's file are thus
/// dropped.
/// @throws InputError if the file cannot be written; it is then unchanged
void keep_only(const PointSet& points, const std::vector<KeyedPoint>& keyed, SweepStore& store);

/// Returns the progress of the shard according to `store`. Computes nothing.
SweepStatus sweep_status(const PointSet& points, const SweepStore& store,
                         const SweepOptions& options);

}  // namespace equarx::sweep
