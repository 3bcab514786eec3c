#include "experiments/advise/turning_points.hpp"

#include <cmath>

#include "experiments/run/experiment.hpp"
#include "models/hardware/chip.hpp"
#include "tests/experiments/advise/advising.hpp"

namespace equarx::advise::turning_points_test {
namespace {

TEST_CASE("at a turning point plain and quantized take the same time") {
  input::Json json = on_slice("4x2", "16 MiB");
  json["numerics"] = "off";
  const run::ExperimentResult compared = testing::run(json);
  REQUIRE(*compared.runs.back().speedup > 1.0);
  const std::vector<TurningPoint> points = find_turning_points(compared);
  REQUIRE_FALSE(points.empty());
  CHECK(points.size() <= 2);
  double last = 0.0;
  for (const TurningPoint& point : points) {
    CAPTURE(point.parameter);
    config::ExperimentConfig config = config::read_config(json);
    const hardware::ParameterInfo& info = *hardware::find_parameter(point.parameter);
    CHECK((config.chip.*info.member).value == point.value);
    const double change = std::abs(std::log(point.turns_at / point.value));
    CHECK(change >= last);
    CHECK(change <= std::log(16.0) + 1e-9);
    last = change;
    plan::Plan plan = plan::make_plan(config, plan::RunProfile::batch);
    (config.chip.*info.member).value = point.turns_at;
    const run::ExperimentResult there =
        run::run_experiment(plan::on_chip(plan, config.chip), [](const std::string&) {});
    CHECK(*there.runs.back().speedup == Approx(1.0).epsilon(0.01));
  }
}

}  // namespace
}  // namespace equarx::advise::turning_points_test
