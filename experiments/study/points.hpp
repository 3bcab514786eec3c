// Points of all experiments of a study, as one set.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/input/json_value.hpp"
#include "experiments/study/study.hpp"
#include "experiments/sweep/point_set.hpp"

namespace equarx::study {

/// Numbered experiment by experiment, in the study's order.
class StudyPoints : public sweep::PointSet {
 public:
  /// `study` must outlive it.
  explicit StudyPoints(const Study& study);

  std::size_t size() const override { return locations_.size(); }
  std::string experiment(std::size_t point) const override { return at(point).name; }
  std::vector<std::string> axis_keys() const override;
  input::Json axes(std::size_t point) const override;
  input::Json config(std::size_t point) const override;

  /// Returns the point of an experiment whose axes have exactly these values; std::nullopt if
  /// absent.
  std::optional<std::size_t> find(const std::string& experiment,
                                  const std::map<std::string, input::JsonValue>& at) const;
  /// Returns for example `experiment 'sizes' /tensor/bytes="1 MiB"`, for messages.
  std::string describe(std::size_t point) const;
  /// Returns the experiment of a point.
  const StudyExperiment& at(std::size_t point) const;

 private:
  struct Location {
    std::size_t experiment = 0;  ///< index in the study
    std::size_t point = 0;       ///< index in the experiment
  };

  const Study& study_;
  std::vector<Location> locations_;  ///< by point
};

}  // namespace equarx::study
