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

/// Between which values 68 % of the chips are that were drawn (run::Interval).
struct FigureInterval {
  double low = 0.0;
  double high = 0.0;
};

/// What a point says of a row's figure; nothing of it if the point or the run failed.
struct Figure {
  std::optional<double> simulated = std::nullopt;
  /// Of times and speedups: what arithmetic without a simulation gives, which is the lower bound: computing, and
  /// the bytes of the busiest link direction / its bandwidth; of a speedup the ratio of two of these.
  std::optional<double> null_model = std::nullopt;
  std::optional<FigureInterval> interval =
      std::nullopt;                               ///< of times and speedups, if there are any
  std::string hardware = {};                      ///< the chip, as the configuration names it
  std::optional<bool> calibrated = std::nullopt;  ///< the chip: see run::RunResult
};

/// An expected value beside the simulated one.
struct StudyOutcome {
  StudyRow row;
  Figure figure;

  /// Simulated / expected.
  std::optional<double> ratio() const;
  /// Never so for what was not simulated.
  bool within_tolerance() const;
  /// Whether the null model would be within the tolerance; none if there is none.
  std::optional<bool> null_within_tolerance() const;
  /// Whether the expected value is no farther from the simulated one than both errors together: half of the
  /// interval on that side, and the standard error of what is expected. None without an interval, or of a limit.
  std::optional<bool> within_interval() const;
  /// Whether it is as the study says: within the tolerance, or simulated and outside it if that is known.
  bool as_known() const;
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
