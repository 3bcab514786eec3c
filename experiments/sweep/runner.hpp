// Runs the points of a sweep side by side.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "experiments/sweep/csv.hpp"
#include "experiments/sweep/point_set.hpp"
#include "experiments/sweep/store.hpp"

namespace equarx::sweep {

/// Which points of a sweep are computed, and by how many processes.
struct SweepOptions {
  std::size_t jobs = 1;  ///< processes
  SweepShard shard = {};
  bool retry = false;  ///< computes points again that failed
};

/// How far a sweep is.
struct SweepStatus {
  std::size_t points = 0;  ///< of the shard
  std::size_t done = 0;  ///< of these, with those that had been there before and those that failed
  std::size_t computed = 0;  ///< by this run
  std::size_t failed = 0;
};

/// What a sweep came to.
struct SweepOutcome {
  SweepStatus status;
  std::vector<KeyedPoint> keyed;  ///< the shard's points, if all were looked at
  int signal = 0;                 ///< that ended the sweep before its time; 0 if none did
};

/// Computes those points of the shard that `store`, which must be open, does not have, and adds their
/// results as they finish. A point that fails is stored with its error. No other thread may run in this
/// process. @throws InputError if the store cannot be written; what finished before is in it.
SweepOutcome run_sweep(const PointSet& points, SweepStore& store, const SweepOptions& options,
                       const std::function<void(const SweepStatus&)>& show);

/// Leaves in `store`, which must be open, the lines of these points alone, in this order and with the numbers
/// and axes that the points have now: those of an earlier state of the file that named the points go.
/// @throws InputError if the file cannot be written; it is as it was then.
void keep_only(const PointSet& points, const std::vector<KeyedPoint>& keyed, SweepStore& store);

/// What is missing in `store`, and how far the shard is without it. Computes nothing.
SweepStatus sweep_status(const PointSet& points, const SweepStore& store,
                         const SweepOptions& options);

}  // namespace equarx::sweep
