#include "experiments/step/timing.hpp"

#include "experiments/config/step_json.hpp"
#include "experiments/step/run.hpp"
#include "tests/catch.hpp"
#include "tests/support/steps.hpp"

namespace equarx::step::timing_test {
namespace {

StepPlan training() {
  input::Json json = testing::good_training();
  json["variants"] = {{{"label", "bf16"}},
                      {{"label", "int8"}, {"quantize", {{{"format", "int8"}}}}}};
  return make_plan(config::read_step_config(json));
}

StepPlan with_simulation(StepPlan plan, config::SimulationMode mode) {
  plan.config.machine.simulation = mode;
  return plan;
}

TEST_CASE("layers are left out, and the time is that of the result") {
  const StepPlan plan = training();
  const sim::StepTime found = find_cuts(plan, plan.variants.front());
  CHECK_FALSE(found.cuts.empty());
  for (const VariantPlan& variant : plan.variants) {
    const VariantResult result = run_variant(plan, variant, "one");
    CHECK(time_of(plan, variant, found.cuts).time_s == Approx(result.time_s).epsilon(sim::kSteady));
  }
}

TEST_CASE("nothing is left out of full simulations") {
  const StepPlan plan = with_simulation(training(), config::SimulationMode::full);
  CHECK(find_cuts(plan, plan.variants.front()).cuts.empty());
}

TEST_CASE("times on the nominal machine are those of the results") {
  const StepPlan plan = training();
  const variation::Varied varied = varied_variants(plan, find_cuts(plan, 1), 1);
  const std::vector<variation::Timing> timings = varied.time_on(varied.machine);
  REQUIRE(timings.size() == 2);
  CHECK(timings[0].speedup == 1.0);
  for (std::size_t i = 0; i < timings.size(); ++i)
    CHECK(timings[i].time_s ==
          Approx(run_variant(plan, plan.variants[i], "one").time_s).epsilon(sim::kSteady));
  CHECK(timings[1].speedup == Approx(timings[0].time_s / timings[1].time_s).epsilon(1e-12));
}

TEST_CASE("SimGrid runs one step at a time") {
  StepPlan plan = training();
  CHECK(engine_of(plan.config) == sim::Engine::direct);
  plan.config.machine.engine = config::EngineMode::simgrid;
  CHECK(engine_of(plan.config) == sim::Engine::simgrid);
  CHECK(threads_for(plan.config, 4) == 1);
}

}  // namespace
}  // namespace equarx::step::timing_test
