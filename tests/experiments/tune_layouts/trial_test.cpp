#include "experiments/tune_layouts/trial.hpp"

#include <limits>

#include "experiments/step/plan.hpp"
#include "experiments/step/run.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tune_layouts/small_training.hpp"

namespace equarx::tune_layouts::trial_test {
namespace {

TEST_CASE("a trial has the figures of a run") {
  input::Json json = network_training();
  json.erase("variants");
  const config::StepConfig config = config::read_step_config(json);
  const Trial trial = run_layout(json, layout_of(config), std::numeric_limits<double>::infinity());
  const step::StepResult result = step::run_step(step::make_plan(config), [](const auto&) {});
  CHECK(trial.time_s == result.runs.front().time_s);
  CHECK(trial.bubble == result.runs.front().bubble());
  CHECK(trial.memory_bytes == result.memory->total());
  CHECK(trial.exposed_s > 0.0);
  CHECK(trial.exposed_s < trial.time_s);
  CHECK(!trial.bytes.empty());
}

TEST_CASE("a layout that does not fit is not simulated, whatever the configuration requests") {
  input::Json json = small_training();
  json["memory"] = "refuse";
  const Trial trial = run_layout(json, {}, 1e9);
  CHECK(trial.time_s == 0.0);
  CHECK(trial.memory_bytes > 1e9);
}

}  // namespace
}  // namespace equarx::tune_layouts::trial_test
