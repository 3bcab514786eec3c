#include "experiments/study/points.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/input/json.hpp"

namespace equarx::study {
namespace {

bool has_values(const input::Json& axes, const std::map<std::string, input::JsonValue>& at) {
  if (axes.size() != at.size()) return false;
  return std::ranges::all_of(at, [&](const auto& value) {
    return axes.contains(value.first) && value.second == axes.at(value.first);
  });
}

}  // namespace

StudyPoints::StudyPoints(const Study& study) : study_(study) {
  for (std::size_t i = 0; i < study.experiments.size(); ++i)
    for (std::size_t point = 0; point < study.experiments[i].points.size(); ++point)
      locations_.push_back({i, point});
}

const StudyExperiment& StudyPoints::at(std::size_t point) const {
  return study_.experiments[locations_.at(point).experiment];
}

std::vector<std::string> StudyPoints::axis_keys() const {
  std::vector<std::string> keys;
  for (const StudyExperiment& experiment : study_.experiments)
    for (std::string& key : experiment.points.axis_keys())
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(std::move(key));
  return keys;
}

input::Json StudyPoints::axes(std::size_t point) const {
  return at(point).points.axes(locations_[point].point);
}

input::Json StudyPoints::config(std::size_t point) const {
  return at(point).points.config(locations_[point].point);
}

std::optional<std::size_t> StudyPoints::find(
    const std::string& experiment, const std::map<std::string, input::JsonValue>& at) const {
  for (std::size_t point = 0; point < size(); ++point)
    if (this->experiment(point) == experiment && has_values(axes(point), at)) return point;
  return std::nullopt;
}

std::string StudyPoints::describe(std::size_t point) const {
  std::string text = fmt::format("experiment '{}'", experiment(point));
  const input::Json values = axes(point);
  for (const auto& [key, value] : values.items()) text += fmt::format(" {}={}", key, value.dump());
  return text;
}

}  // namespace equarx::study
