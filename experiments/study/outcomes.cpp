#include "experiments/study/outcomes.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "experiments/config/chip_changes.hpp"
#include "experiments/config/tensor_json.hpp"
#include "experiments/study/script.hpp"

namespace equarx::study {
namespace {

/// Results of a point: a line per run, or one with the error.
std::vector<input::JsonValue> results_of(const std::string& key, const sweep::SweepStore& store) {
  const sweep::StoredPoint* stored = store.find(key);
  if (stored == nullptr) throw std::logic_error("a point of the study was not computed");
  return store.results(*stored);
}

constexpr std::string_view kTime = "time_s";
constexpr std::string_view kSpeedup = "speedup";

/// Run of a collective; nullptr if its point failed.
const input::Json* find_run(const std::vector<input::JsonValue>& results,
                            const std::string& label) {
  for (const input::JsonValue& line : results)
    if (line->contains("run") && line->at("run").value("label", "") == label)
      return &line->at("run");
  return nullptr;
}

std::optional<double> number_at(const input::Json& run, const std::string& path) {
  const input::Json::json_pointer pointer("/" + path);
  if (!run.contains(pointer) || !run.at(pointer).is_number()) return std::nullopt;
  return run.at(pointer).get<double>();
}

std::optional<double> null_model_of(const std::string& metric, const input::Json& run,
                                    const input::Json* baseline) {
  const std::optional<double> bound_s = number_at(run, "lower_bound_s");
  if (metric == kTime) return bound_s;
  if (metric != kSpeedup || baseline == nullptr || !bound_s || *bound_s <= 0.0) return std::nullopt;
  const std::optional<double> baseline_s = number_at(*baseline, "lower_bound_s");
  if (!baseline_s) return std::nullopt;
  return *baseline_s / *bound_s;
}

std::optional<FigureInterval> interval_of(const std::string& metric, const input::Json& run) {
  const bool is_time = metric == kTime;
  if (!is_time && metric != kSpeedup) return std::nullopt;
  const auto low = number_at(run, is_time ? "uncertainty/time_low_s" : "uncertainty/speedup_low");
  const auto high =
      number_at(run, is_time ? "uncertainty/time_high_s" : "uncertainty/speedup_high");
  if (!low || !high) return std::nullopt;
  return FigureInterval{*low, *high};
}

/// Bytes of the tensor of a collective that is no part of a step.
std::optional<std::uint64_t> tensor_bytes(const input::Json& config) {
  if (!config.contains("tensor") || config.contains("workload")) return std::nullopt;
  input::Json tensor = config.at("tensor");
  tensor.erase("values");
  return config::read_tensor(input::ObjectReader(tensor, "/tensor"), 1).bytes();
}

Figure figure_of(const StudyRow& row, const std::vector<input::JsonValue>& results) {
  const input::Json* run = find_run(results, row.run);
  if (run == nullptr) return {};
  const std::optional<double> simulated = number_at(*run, row.metric);
  if (!simulated) return {};
  const input::Json& config = results.front()->at("config");
  const auto baseline = config.at("baseline").get<std::string>();
  return {.simulated = simulated,
          .null_model = null_model_of(row.metric, *run, find_run(results, baseline)),
          .interval = interval_of(row.metric, *run),
          .hardware = config::chip_text(config.at("hardware")),
          .calibrated = run->at("calibrated").get<bool>(),
          .chip = config::base_name(config.at("hardware")),
          .chips = run->at("chips").get<std::uint32_t>(),
          .bytes = tensor_bytes(config)};
}

bool within(const StudyRow& row, double value) {
  if (row.relation == Relation::at_most) return value <= row.expected * (1.0 + row.tolerance);
  return std::abs(value / row.expected - 1.0) <= row.tolerance;
}

}  // namespace

std::optional<double> StudyOutcome::ratio() const {
  if (!figure.simulated) return std::nullopt;
  return *figure.simulated / row.expected;
}

bool StudyOutcome::within_tolerance() const {
  return figure.simulated && within(row, *figure.simulated);
}

std::optional<bool> StudyOutcome::null_within_tolerance() const {
  if (!figure.null_model) return std::nullopt;
  return within(row, *figure.null_model);
}

std::optional<bool> StudyOutcome::within_interval() const {
  if (!figure.simulated || !figure.interval || row.relation == Relation::at_most)
    return std::nullopt;
  const double deviation = row.expected - *figure.simulated;
  const double model = deviation < 0.0 ? *figure.simulated - figure.interval->low
                                       : figure.interval->high - *figure.simulated;
  return std::abs(deviation) <= std::hypot(std::max(0.0, model), row.standard_error.value_or(0.0));
}

bool StudyOutcome::as_known() const {
  return row.misses.empty() ? within_tolerance() : figure.simulated && !within_tolerance();
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

std::vector<StudyOutcome> compare(const Study& study, const input::Json& results) {
  std::vector<StudyOutcome> outcomes;
  for (const StudyRow& row : study.rows)
    outcomes.push_back({row, {.simulated = number_in_results(row, results)}});
  return outcomes;
}

std::vector<std::string> failures(const StudyPoints& points,
                                  const std::vector<sweep::KeyedPoint>& keyed,
                                  const sweep::SweepStore& store) {
  std::vector<std::string> all;
  for (const sweep::KeyedPoint& at : keyed) {
    const input::JsonValue first = results_of(at.key, store).front();
    for (const char* reason : {"error", "reason"})
      if (first->contains(reason))
        all.push_back(
            fmt::format("{}: {}", points.describe(at.point), first->at(reason).get<std::string>()));
  }
  return all;
}

}  // namespace equarx::study
