#include "experiments/study/outcomes.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "experiments/input/json.hpp"

namespace equarx::study {
namespace {

/// The results of a point: a line for each run, or one with the error.
std::vector<input::JsonValue> results_of(const std::string& key, const sweep::SweepStore& store) {
  const sweep::StoredPoint* stored = store.find(key);
  if (stored == nullptr) throw std::logic_error("a point of the study was not computed");
  return store.results(*stored);
}

std::optional<double> figure_of(const StudyRow& row, const std::vector<input::JsonValue>& results) {
  const input::Json::json_pointer metric("/" + row.metric);
  for (const input::JsonValue& line : results) {
    if (!line->contains("run") || line->at("run").value("label", "") != row.run) continue;
    const input::Json& run = line->at("run");
    if (run.contains(metric) && run.at(metric).is_number()) return run.at(metric).get<double>();
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> StudyOutcome::ratio() const {
  if (!simulated) return std::nullopt;
  return *simulated / row.expected;
}

bool StudyOutcome::within_tolerance() const {
  if (!simulated) return false;
  if (row.relation == Relation::at_most) return *simulated <= row.expected * (1.0 + row.tolerance);
  return std::abs(*ratio() - 1.0) <= row.tolerance;
}

std::vector<StudyOutcome> compare(const Study& study, const StudyPoints& points,
                                  const std::vector<sweep::KeyedPoint>& keyed,
                                  const sweep::SweepStore& store) {
  std::vector<StudyOutcome> outcomes;
  for (const StudyRow& row : study.rows) {
    const std::size_t point = points.find(row.experiment, row.at).value();
    outcomes.push_back({row, figure_of(row, results_of(keyed.at(point).key, store))});
  }
  return outcomes;
}

std::vector<std::string> failures(const StudyPoints& points,
                                  const std::vector<sweep::KeyedPoint>& keyed,
                                  const sweep::SweepStore& store) {
  std::vector<std::string> all;
  for (const sweep::KeyedPoint& at : keyed) {
    const input::JsonValue first = results_of(at.key, store).front();
    if (first->contains("error"))
      all.push_back(
          fmt::format("{}: {}", points.describe(at.point), first->at("error").get<std::string>()));
  }
  return all;
}

}  // namespace equarx::study
