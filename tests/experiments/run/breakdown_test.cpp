#include "experiments/run/breakdown.hpp"

#include "base/input/json.hpp"
#include "models/collectives/traffic.hpp"
#include "sim/link_times.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::run::breakdown_test {
namespace {

using testing::good_config;

double sum_of(const Breakdown& parts) {
  return parts.payload_s + parts.scales_s + parts.sync_s + parts.startup_s + parts.idle_s;
}

TEST_CASE("the parts add up to the time, and payload and scales to the lower bound") {
  const plan::Plan plan = testing::plan_of(good_config());
  for (const plan::PlannedCollective& planned : plan.collectives) {
    const plan::CollectivePlan& collective = planned.candidates.front();
    CAPTURE(collective.config.label);
    const double bound_s = sim::lower_bound_s(collective.program, collective.simulated.machine);
    const double time_s = 10.0 * bound_s + 1.0;
    const Breakdown parts = break_down(collective, time_s);
    CHECK(sum_of(parts) == Approx(time_s));
    CHECK(parts.payload_s + parts.scales_s == Approx(bound_s));
    CHECK((parts.scales_s > 0.0) == collective.config.format.scaled);
    CHECK((parts.sync_s > 0.0) == collective.config.format.scaled);
  }
}

TEST_CASE("startup is a separate part") {
  config::ExperimentConfig config = config::read_config(good_config());
  config.chip.collective_startup.value = 5e-6;
  const plan::Plan plan = plan::make_plan(config);
  const plan::CollectivePlan& collective = plan.collectives.back().candidates.front();
  CHECK(break_down(collective, 1.0).startup_s == Approx(5e-6));
  CHECK(sum_of(break_down(collective, 1.0)) == Approx(1.0));
}

TEST_CASE("startup is that of the chip that starts first") {
  config::ExperimentConfig config = config::read_config(good_config());
  config.chip.collective_startup.value = 5e-6;
  const plan::Plan plan = plan::make_plan(config);
  plan::CollectivePlan collective = plan.collectives.back().candidates.front();
  const std::uint32_t chips = collective.simulated.machine.ranks();
  collective.simulated.machine.slowdown.assign(chips, 2.0);
  CHECK(break_down(collective, 1.0).startup_s == Approx(10e-6));
  collective.simulated.machine.slowdown.back() = 0.5;
  CHECK(break_down(collective, 1.0).startup_s == Approx(2.5e-6));
}

TEST_CASE("a time at its lower bound has an idle part of 0, never below") {
  const plan::Plan plan = testing::plan_of(good_config());
  const plan::CollectivePlan& collective = plan.collectives.front().candidates.front();
  const double bound_s = sim::lower_bound_s(collective.program, collective.simulated.machine);
  CHECK(break_down(collective, bound_s * (1.0 - 1e-9)).idle_s == 0.0);
}

}  // namespace
}  // namespace equarx::run::breakdown_test
