#include "experiments/study/check.hpp"

#include <algorithm>
#include <iterator>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "experiments/config/any_config.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/json.hpp"
#include "experiments/result/json.hpp"
#include "experiments/result/step_json.hpp"
#include "experiments/study/refusals.hpp"
#include "experiments/study/script.hpp"

namespace equarx::study {
namespace {

void check_points(const Study& study, const StudyPoints& points) {
  for (std::size_t point = 0; point < points.size(); ++point) {
    const auto refuse_point = [&](const input::InputError& error) {
      throw input::InputError("", fmt::format("{}: {}", points.describe(point), error.what()));
    };
    try {
      config::read_any_config(points.config(point));
    } catch (const input::UnknownKeyError& error) {
      // The sweep's own check names the axis that creates the key, and its JSON pointer.
      points.at(point).points.check();
      refuse_point(error);
    } catch (const input::InputError& error) {
      refuse_point(error);
    }
  }
  for (const StudyExperiment& experiment : study.experiments) experiment.points.check();
}

std::size_t find_point(const Study& study, const StudyPoints& points, const StudyRow& row) {
  const auto experiment =
      std::ranges::find(study.experiments, row.experiment, &StudyExperiment::name);
  if (experiment == study.experiments.end()) {
    Names names;
    std::ranges::transform(study.experiments, std::back_inserter(names), &StudyExperiment::name);
    refuse(
        row, "experiment",
        fmt::format("there is no experiment '{}'{}", row.experiment, hint(row.experiment, names)));
  }
  const std::optional<std::size_t> point = points.find(row.experiment, row.at);
  if (point) return *point;
  std::string at;
  for (const auto& [key, value] : row.at) at += fmt::format(" {}={}", key, value->dump());
  const Names keys = experiment->points.axis_keys();
  refuse(row, "at",
         fmt::format("experiment '{}' has no point{}; {}", row.experiment, at,
                     keys.empty() ? "it has no axes, so leave 'at' out"
                                  : fmt::format("give one value of each axis, as written there: {}",
                                                fmt::join(keys, ", "))));
}

void check_row(const Study& study, const StudyPoints& points, const StudyRow& row) {
  const std::size_t point = find_point(study, points, row);
  const input::Json config = points.config(point);
  const Names labels = config::read_any_config(config).labels;
  if (std::ranges::find(labels, row.run) == labels.end())
    refuse(row, "run",
           fmt::format("experiment '{}' has no run '{}'{}", row.experiment, row.run,
                       hint(row.run, labels)));
  const Names numbers =
      std::visit([](const auto& read) { return result::number_names(read); }, config::read(config));
  if (std::ranges::find(numbers, row.metric) == numbers.end())
    refuse(row, "metric",
           fmt::format("a run has no number '{}'{}", row.metric, hint(row.metric, numbers)));
}

}  // namespace

void check_study(const Study& study, const StudyPoints& points) {
  if (study.script) return check_script(*study.script);
  check_points(study, points);
  for (const StudyRow& row : study.rows) check_row(study, points, row);
}

}  // namespace equarx::study
