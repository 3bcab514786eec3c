// Results of an earlier state of a sweep in its folder.
#pragma once

#include <cstddef>
#include <vector>

#include "experiments/config/differences.hpp"
#include "experiments/sweep/csv.hpp"
#include "experiments/sweep/points.hpp"
#include "experiments/sweep/store.hpp"

namespace equarx::sweep {

/// Numbers of lines in a results file that belong to no point of the sweep, though their axes
/// match.
struct OlderRows {
  std::size_t of_other_bases = 0;
  /// Between the base of the last of these lines (`a`) and the sweep's base (`b`); empty if
  /// unknown.
  std::vector<config::Difference> differences;
  /// Same base and axes, but other contents of a file that the configuration names.
  std::size_t of_other_files = 0;
};

/// Finds such lines in `store`, which must be open. Points of the same base that were removed from
/// the sweep do not count, as their axes differ. @throws InputError if the file cannot be read
OlderRows older_rows(const SweepPoints& points, const std::vector<KeyedPoint>& keyed,
                     const SweepStore& store);

}  // namespace equarx::sweep
