// What was simulated, beside what was expected.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/study/points.hpp"
#include "experiments/study/study.hpp"
#include "experiments/sweep/csv.hpp"
#include "experiments/sweep/store.hpp"

namespace equarx::study {

/// An expected value beside the simulated one.
struct StudyOutcome {
  StudyRow row;
  std::optional<double> simulated = std::nullopt;  ///< none if its point or its run failed

  /// Simulated / expected.
  std::optional<double> ratio() const;
  /// Never so for what was not simulated.
  bool within_tolerance() const;
};

/// Finds each row's figure in the results. `points` are those of `study`, and check_study() let both pass;
/// `keyed` are all of them, and `store`, which must be open, has their results.
std::vector<StudyOutcome> compare(const Study& study, const StudyPoints& points,
                                  const std::vector<sweep::KeyedPoint>& keyed,
                                  const sweep::SweepStore& store);

/// A line for each point that failed: which it is, and why.
std::vector<std::string> failures(const StudyPoints& points,
                                  const std::vector<sweep::KeyedPoint>& keyed,
                                  const sweep::SweepStore& store);

}  // namespace equarx::study
