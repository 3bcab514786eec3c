// Notes on points without results and on stale rows of a sweep, one line each.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/sweep/csv.hpp"
#include "experiments/sweep/older_rows.hpp"
#include "experiments/sweep/point_set.hpp"
#include "experiments/sweep/store.hpp"

namespace equarx::cli {

/// First distinct failure reasons with the number of points and the first point of each.
/// `store` must be open. Empty if no point failed.
std::vector<std::string> failure_notes(const sweep::PointSet& points,
                                       const std::vector<sweep::KeyedPoint>& keyed,
                                       const sweep::SweepStore& store);

/// The number of points that do not fit, with the reason of the first one. `store` must be open.
/// Empty if all fit.
std::vector<std::string> does_not_fit_notes(const sweep::PointSet& points,
                                            const std::vector<sweep::KeyedPoint>& keyed,
                                            const sweep::SweepStore& store);

/// "3 do not fit", "1 does not fit"
std::string does_not_fit_text(std::size_t points);

/// Notes on rows of `file` from earlier states of the sweep. Empty if there are none.
std::vector<std::string> older_rows_notes(const sweep::OlderRows& older,
                                          const std::filesystem::path& file);

}  // namespace equarx::cli
