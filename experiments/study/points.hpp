// The points of all experiments of a study, as one set.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/input/json_value.hpp"
#include "experiments/study/study.hpp"
#include "experiments/sweep/point_set.hpp"

namespace equarx::study {

/// Numbered experiment by experiment, in the study's order.
class StudyPoints : public sweep::PointSet {
 public:
  /// `study` must outlive it.
  explicit StudyPoints(const Study& study);

  std::size_t size() const override { return places_.size(); }
  std::string experiment(std::size_t point) const override { return at(point).name; }
  plan::Look look() const override { return plan::Look::at_it; }
  std::vector<std::string> axis_keys() const override;
  input::Json axes(std::size_t point) const override;
  input::Json config(std::size_t point) const override;

  /// The point of an experiment whose axes have these values, and no others. None if there is no such point.
  std::optional<std::size_t> find(const std::string& experiment,
                                  const std::map<std::string, input::JsonValue>& at) const;
  /// "experiment 'sizes' /tensor/bytes="1 MiB"", for messages.
  std::string describe(std::size_t point) const;
  /// The experiment that a point belongs to.
  const StudyExperiment& at(std::size_t point) const;

 private:
  struct Place {
    std::size_t experiment = 0;  ///< of the study
    std::size_t point = 0;       ///< of the experiment
  };

  const Study& study_;
  std::vector<Place> places_;  ///< by point
};

}  // namespace equarx::study
