// Comparison of simulated with expected figures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/study/points.hpp"
#include "experiments/study/study.hpp"
#include "experiments/sweep/csv.hpp"
#include "experiments/sweep/store.hpp"

namespace equarx::study {

/// 68 % interval of a figure (variation::Interval).
struct FigureInterval {
  double low = 0.0;
  double high = 0.0;
};

/// Simulated figure of a row; all unset if its point or run failed.
struct Figure {
  std::optional<double> simulated = std::nullopt;
  /// Null model of a time or speedup, without any simulation: the lower bound, from compute and the
  /// bytes / bandwidth of the busiest link direction; for a speedup the ratio of two lower bounds.
  std::optional<double> null_model = std::nullopt;
  std::optional<FigureInterval> interval = std::nullopt;  ///< of times and speedups, if computed
  std::string hardware = {};                      ///< chip in the configuration, with its changes
  std::optional<bool> calibrated = std::nullopt;  ///< see run::RunResult
  std::string chip = {};                          ///< built-in chip that it is based on
  std::optional<std::uint32_t> chips = std::nullopt;
  std::optional<std::uint64_t> bytes = std::nullopt;  ///< tensor of a collective
};

/// A row with its simulated figure.
struct StudyOutcome {
  StudyRow row;
  Figure figure;

  /// Simulated / expected.
  std::optional<double> ratio() const;
  /// True if the simulated value is within the tolerance; false if it is missing.
  bool within_tolerance() const;
  /// True if the null model is within the tolerance; std::nullopt without null model.
  std::optional<bool> null_within_tolerance() const;
  /// True if simulated and expected value differ by at most the combined error: the part of the
  /// interval on that side and the standard error of the expected value, added in quadrature.
  /// std::nullopt without an interval, and for limits.
  std::optional<bool> within_interval() const;
  /// True if the outcome is as stated in the study: within the tolerance, or simulated and a known
  /// miss.
  bool as_known() const;
};

/// Looks up each row's figure in the results. Requires that check_study() accepted `study` and its
/// `points`, that `keyed` are all points, and that `store` is open and has their results.
std::vector<StudyOutcome> compare(const Study& study, const StudyPoints& points,
                                  const std::vector<sweep::KeyedPoint>& keyed,
                                  const sweep::SweepStore& store);

/// The same from the results of a script. @throws InputError for a row whose number they lack
std::vector<StudyOutcome> compare(const Study& study, const input::Json& results);

/// Returns a line with name and error for each failed point.
std::vector<std::string> failures(const StudyPoints& points,
                                  const std::vector<sweep::KeyedPoint>& keyed,
                                  const sweep::SweepStore& store);

}  // namespace equarx::study
