// What a folder of results still has of an earlier state of its sweep.
#pragma once

#include <cstddef>
#include <vector>

#include "experiments/config/differences.hpp"
#include "experiments/sweep/csv.hpp"
#include "experiments/sweep/points.hpp"
#include "experiments/sweep/store.hpp"

namespace equarx::sweep {

/// Lines of a file of results that are of none of a sweep's points, though their axes look as if they were.
struct OlderRows {
  std::size_t of_other_bases = 0;
  /// Between the base of the last of these (`a`) and the sweep's (`b`); empty if that cannot be said.
  std::vector<config::Difference> differences;
  /// Of the same base and axes, but of other contents of a file that the configuration names.
  std::size_t of_other_files = 0;
};

/// Looks for them in `store`, which must be open. Points of the same base that the sweep has left out since
/// are not among them: their axes tell them apart. @throws InputError if the file cannot be read.
OlderRows older_rows(const SweepPoints& points, const std::vector<KeyedPoint>& keyed,
                     const SweepStore& store);

}  // namespace equarx::sweep
