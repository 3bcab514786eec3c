#include "experiments/study/study.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "experiments/config/json.hpp"
#include "experiments/config/set_value.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/plan/plan.hpp"
#include "experiments/result/json.hpp"

namespace equarx::study {
namespace {

using Coordinates = std::map<std::string, input::JsonValue>;

/// Every combination of the axes' values, the last axis fastest.
std::vector<Coordinates> combinations(const std::vector<StudyExperiment::Axis>& axes) {
  std::vector<Coordinates> all = {{}};
  for (const StudyExperiment::Axis& axis : axes) {
    std::vector<Coordinates> longer;
    for (const Coordinates& at : all)
      for (const input::Json& value : axis.values) {
        longer.push_back(at);
        longer.back()[axis.pointer] = value;
      }
    all = std::move(longer);
  }
  return all;
}

std::string text_of(const Coordinates& at) {
  std::string text;
  for (const auto& [pointer, value] : at) text += fmt::format(" {}={}", pointer, value->dump());
  return text;
}

run::ExperimentResult run_point(const StudyExperiment& experiment, const Coordinates& at,
                                const run::Progress& progress) {
  input::Json config = experiment.config;
  try {
    for (const auto& [pointer, value] : at) config::override_value(config, pointer, value->dump());
    return run::run_experiment(plan::make_plan(config::read_config(config)), progress);
  } catch (const input::InputError& error) {
    throw input::InputError(
        "", fmt::format("experiment '{}'{}: {}", experiment.name, text_of(at), error.what()));
  }
}

const run::RunResult& find_run(const StudyPoint& point, const StudyRow& row) {
  const auto run = std::ranges::find(point.result.runs, row.run, &run::RunResult::label);
  if (run == point.result.runs.end())
    throw input::InputError("", fmt::format("row '{}': experiment '{}' has no run '{}'", row.id,
                                            row.experiment, row.run));
  return *run;
}

double metric_of(const run::RunResult& run, const StudyRow& row) {
  const input::Json numbers = result::to_json(run).flatten();
  const auto number = numbers.find("/" + row.metric);
  if (number == numbers.end() || !number->is_number())
    throw input::InputError("",
                            fmt::format("row '{}': a run has no number '{}'", row.id, row.metric));
  return number->get<double>();
}

double simulated(const std::vector<StudyPoint>& points, const StudyRow& row) {
  const auto matches = [&](const StudyPoint& point) {
    return point.experiment == row.experiment && point.at == row.at;
  };
  const auto point = std::ranges::find_if(points, matches);
  if (point == points.end())
    throw input::InputError("", fmt::format("row '{}': experiment '{}' has no point{}", row.id,
                                            row.experiment, text_of(row.at)));
  return metric_of(find_run(*point, row), row);
}

}  // namespace

bool StudyOutcome::within_tolerance() const {
  if (row.relation == Relation::at_most) return simulated <= row.expected * (1.0 + row.tolerance);
  return std::abs(ratio() - 1.0) <= row.tolerance;
}

StudyResult run_study(const Study& study, const run::Progress& progress) {
  StudyResult result{study, {}, {}};
  for (const StudyExperiment& experiment : study.experiments)
    for (const Coordinates& at : combinations(experiment.axes)) {
      const run::Progress named = [&](const std::string& text) {
        progress(fmt::format("{}{}: {}", experiment.name, text_of(at), text));
      };
      result.points.push_back({experiment.name, at, run_point(experiment, at, named)});
    }
  for (const StudyRow& row : study.rows)
    result.outcomes.push_back({row, simulated(result.points, row)});
  return result;
}

}  // namespace equarx::study
