// What a sweep has to say beside its results, a line each.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/sweep/csv.hpp"
#include "experiments/sweep/older_rows.hpp"
#include "experiments/sweep/point_set.hpp"
#include "experiments/sweep/store.hpp"

namespace equarx::cli {

/// Why points failed: the first reasons, each once, with its first point and how many failed alike.
/// `store` must be open. Empty if none failed.
std::vector<std::string> failure_notes(const sweep::PointSet& points,
                                       const std::vector<sweep::KeyedPoint>& keyed,
                                       const sweep::SweepStore& store);

/// What `file` has of earlier states of the sweep, and what becomes of it. Empty if it has nothing.
std::vector<std::string> older_rows_notes(const sweep::OlderRows& older,
                                          const std::filesystem::path& file);

}  // namespace equarx::cli
