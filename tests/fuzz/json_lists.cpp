// Readers of files that ask for many runs, until the first would be run.
#include "experiments/calibrate/task.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/json_text.hpp"
#include "experiments/study/check.hpp"
#include "experiments/sweep/key.hpp"
#include "experiments/sweep/points.hpp"
#include "tests/fuzz/json_configs.hpp"
#include "tests/fuzz/json_readers.hpp"

namespace equarx::testing {
namespace {

// So that an input takes milliseconds.
constexpr double kMostPoints = 64.0;

double combinations(const sweep::Sweep& sweep) {
  double points = 1.0;
  for (const sweep::SweepAxis& axis : sweep.axes) points *= static_cast<double>(axis.steps.size());
  return points;
}

void read_sweep(std::string_view text) {
  const sweep::Sweep sweep = sweep::read_sweep(input::parse_json(text), scratch_folder(), "fuzz");
  if (combinations(sweep) > kMostPoints) return;
  const sweep::SweepPoints points(sweep);
  points.check();
  const std::size_t last = points.size() - 1;
  expect(!sweep::SweepKeys().key(points.config(last)).empty(), "a point has a key");
}

void read_study(std::string_view text) {
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
    plan_if_small(measurement.config);
}

}  // namespace

std::vector<JsonReader> list_readers() {
  return {{"sweep", {"sweep", "experiment"}, read_sweep},
          {"study", {"study", "experiment"}, read_study},
          {"calibration", {"calibration", "experiment"}, read_calibration}};
}

}  // namespace equarx::testing
