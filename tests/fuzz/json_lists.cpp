// Readers of files that describe many runs; they stop before the first run.
#include <algorithm>
#include <variant>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/calibrate/task.hpp"
#include "experiments/study/check.hpp"
#include "experiments/sweep/key.hpp"
#include "experiments/sweep/points.hpp"
#include "experiments/sweep/range.hpp"
#include "tests/fuzz/json_configs.hpp"
#include "tests/fuzz/json_readers.hpp"

namespace equarx::testing {
namespace {

// Keeps an input at milliseconds.
constexpr double kMostPoints = 64.0;

double combinations(const sweep::Sweep& sweep) {
  double points = 1.0;
  for (const sweep::SweepAxis& axis : sweep.axes) points *= static_cast<double>(axis.steps.size());
  return points;
}

/// True if a range is refused for its length alone.
template <typename Expand>
bool is_long(const input::Json& range, Expand&& expand) {
  constexpr std::uint64_t kMostValues = 200;  // longer ranges give more than kMostPoints points
  try {
    expand(input::ObjectReader(range, ""), kMostValues);
  } catch (const input::InputError& error) {
    return std::string_view(error.what()).find(" values; at most ") != std::string_view::npos;
  }
  return false;
}

/// True if the document has a very long range; users may have ten million values.
bool has_long_range(const input::Json& json) {
  return holds_somewhere(json, [](const input::Json& part) {
    if (!part.is_object()) return false;
    return (part.contains("range") && is_long(part["range"], sweep::expand_range)) ||
           (part.contains("log_range") && is_long(part["log_range"], sweep::expand_log_range));
  });
}

/// True if the document names links of a machine with hundreds or more: looking up one lays out all
/// of them.
bool has_many_cables(const input::Json& json) {
  constexpr std::uint64_t kMostChips = 16;
  return holds_somewhere(json, [](const input::Json& part) {
    return has_more(part, "fully-connected", kMostChips) && part.contains("avoid");
  });
}

/// True if reading the document is slow; every point of a sweep reads it again.
bool is_read_slowly(const input::Json& json) {
  return has_long_range(json) || has_many_tasks(json) || has_many_cables(json);
}

void read_sweep(std::string_view text) {
  const input::Json json = input::parse_json(text);
  if (is_read_slowly(json)) return;
  const sweep::Sweep sweep = sweep::read_sweep(json, scratch_folder(), "fuzz");
  if (combinations(sweep) > kMostPoints) return;
  const sweep::SweepPoints points(sweep);
  points.check();
  const std::size_t last = points.size() - 1;
  expect(!sweep::SweepKeys().key(points.config(last)).empty(), "a point has a key");
}

void read_study(std::string_view text) {
  const input::Json json = input::parse_json(text);
  if (is_read_slowly(json)) return;
  scratch_file("study.json", text);
  const study::Study study = study::load_study(scratch_folder());
  const study::StudyPoints points(study);
  if (static_cast<double>(points.size()) > kMostPoints) return;
  study::check_study(study, points);
}

void read_calibration(std::string_view text) {
  const calibrate::CalibrationTask task =
      calibrate::read_task(input::parse_json(text), scratch_folder());
  for (const calibrate::Measurement& measurement : task.measurements)
    if (const auto* number = std::get_if<calibrate::SimulatedNumber>(&measurement.of))
      std::visit([](const auto& config) { plan_if_small(config); }, number->config);
}

}  // namespace

std::vector<JsonReader> list_readers() {
  return {{"sweep", {"sweep", "experiment"}, read_sweep},
          {"study", {"study", "experiment"}, read_study},
          {"calibration", {"calibration", "experiment"}, read_calibration}};
}

}  // namespace equarx::testing
