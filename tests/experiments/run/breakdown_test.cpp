#include "experiments/run/breakdown.hpp"

#include "base/input/json.hpp"
#include "models/collectives/traffic.hpp"
#include "sim/link_times.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::run::breakdown_test {
namespace {

Breakdown parts_of(const plan::CollectivePlan& plan, double time_s) {
  return break_down(plan, sim::link_bytes(plan.program, plan.simulated.machine(), plan.costs),
                    time_s);
}

using testing::good_config;

double sum_of(const Breakdown& parts) {
  return parts.payload_s + parts.scales_s + parts.sync_s + parts.startup_s + parts.idle_s;
}

TEST_CASE("the parts add up to the time, and payload and scales to the lower bound") {
  config::ExperimentConfig config = config::read_config(good_config());
  config.chip.step_sync_time.value = 0.5e-6;
  const plan::Plan plan = plan::make_plan(config);
  for (const plan::PlannedCollective& planned : plan.collectives) {
    const plan::CollectivePlan& collective = planned.candidates.front();
    CAPTURE(collective.config.label);
    const double bound_s = sim::lower_bound_s(collective.program, collective.simulated.machine());
    const double time_s = 10.0 * bound_s + 1.0;
    const Breakdown parts = parts_of(collective, time_s);
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
  CHECK(parts_of(collective, 1.0).startup_s == Approx(5e-6));
  CHECK(sum_of(parts_of(collective, 1.0)) == Approx(1.0));
}

TEST_CASE("a program of its own starts later by the program's startup, on any machine") {
  config::ExperimentConfig config = config::read_config(good_config());
  config.chip.collective_startup.value = 5e-6;
  config.chip.program_startup.value = 20e-6;
  const auto startup_s = [&] {
    const plan::Plan plan = plan::make_plan(config);
    config::MachineParameters machine = config::parameters_of(config);
    machine.chip.program_startup.value = 30e-6;
    const plan::Plan moved = plan::on_machine(plan, machine);
    return std::pair(parts_of(plan.collectives.back().candidates.front(), 1.0).startup_s,
                     parts_of(moved.collectives.back().candidates.front(), 1.0).startup_s);
  };
  REQUIRE(config.timed_as == config::TimedAs::step);
  CHECK(startup_s().first == Approx(5e-6));
  CHECK(startup_s().second == Approx(5e-6));
  config.timed_as = config::TimedAs::program;
  CHECK(startup_s().first == Approx(25e-6));
  CHECK(startup_s().second == Approx(35e-6));
}

TEST_CASE("startup is that of the chip that starts first") {
  config::ExperimentConfig config = config::read_config(good_config());
  config.chip.collective_startup.value = 5e-6;
  const plan::Plan plan = plan::make_plan(config);
  plan::CollectivePlan collective = plan.collectives.back().candidates.front();
  sim::Machine machine = collective.simulated.machine();
  machine.slowdown.assign(machine.ranks(), 2.0);
  collective.simulated.shared = std::make_shared<const sim::Machine>(machine);
  CHECK(parts_of(collective, 1.0).startup_s == Approx(10e-6));
  machine.slowdown.back() = 0.5;
  collective.simulated.shared = std::make_shared<const sim::Machine>(machine);
  CHECK(parts_of(collective, 1.0).startup_s == Approx(2.5e-6));
}

TEST_CASE("a time at its lower bound has an idle part of 0, never below") {
  const plan::Plan plan = testing::plan_of(good_config());
  const plan::CollectivePlan& collective = plan.collectives.front().candidates.front();
  const double bound_s = sim::lower_bound_s(collective.program, collective.simulated.machine());
  CHECK(parts_of(collective, bound_s * (1.0 - 1e-9)).idle_s == 0.0);
}

}  // namespace
}  // namespace equarx::run::breakdown_test
