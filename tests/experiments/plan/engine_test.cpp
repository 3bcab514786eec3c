#include "experiments/plan/engine.hpp"

#include "experiments/plan/plan.hpp"
#include "models/values/value_executor.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/machines.hpp"

namespace equarx::plan::engine_test {
namespace {

using config::EngineMode;

const sim::Machine& ring() {
  static const sim::Machine machine = testing::ring_machine(4, 45e9, 0.4e-6);
  return machine;
}

EngineChoice choose(EngineMode mode, double simgrid_s, RunProfile profile) {
  return value_or_throw(choose_engine(mode, ring(), simgrid_s, profile));
}

TEST_CASE("SimGrid runs single runs that are fast enough") {
  CHECK(choose(EngineMode::automatic, 0.2, RunProfile::single).engine == sim::Engine::simgrid);
  const EngineChoice slow = choose(EngineMode::automatic, 0.3, RunProfile::single);
  CHECK(slow.engine == sim::Engine::direct);
  CHECK_THAT(slow.reason, ContainsSubstring("longer than 0.25 s"));
  const EngineChoice many = choose(EngineMode::automatic, 0.001, RunProfile::batch);
  CHECK(many.engine == sim::Engine::direct);
  CHECK_THAT(many.reason, ContainsSubstring("many"));
}

TEST_CASE("a requested engine is used") {
  CHECK(choose(EngineMode::simgrid, 1e6, RunProfile::batch).engine == sim::Engine::simgrid);
  CHECK(choose(EngineMode::direct, 0.0, RunProfile::single).engine == sim::Engine::direct);
}

TEST_CASE("SimGrid uses one thread, the direct engine as many as allowed") {
  CHECK(simulating_threads(sim::Engine::simgrid) == 1);
  CHECK(simulating_threads(sim::Engine::simgrid, 5) == 1);
  CHECK(simulating_threads(sim::Engine::direct, 5) == 5);
  CHECK(simulating_threads(sim::Engine::direct) == values::default_threads());
  CHECK(simulating_threads(EngineMode::simgrid) == 1);
  CHECK(simulating_threads(EngineMode::direct) == values::default_threads());
  CHECK(simulating_threads(EngineMode::automatic) == values::default_threads());
}

TEST_CASE("the direct engine is refused on unsupported machines") {
  sim::Machine machine = ring();
  machine.out_ports[0][0].route = {3, 3};
  testing::check_refused(
      [&] { value_or_throw(choose_engine(EngineMode::direct, machine, 1.0, RunProfile::single)); },
      "/engine", "link 3");
  const EngineChoice automatic =
      value_or_throw(choose_engine(EngineMode::automatic, machine, 1e6, RunProfile::batch));
  CHECK(automatic.engine == sim::Engine::simgrid);
  CHECK_THAT(automatic.reason, ContainsSubstring("link 3"));
}

TEST_CASE("a small plan runs on SimGrid, all chips of a large one do not") {
  input::Json json = testing::good_config();
  CHECK(make_plan(config::read_config(json)).collectives.front().candidates.front().engine.engine ==
        sim::Engine::simgrid);
  json["simulation"] = "full";
  json["topology"] = {{"torus", "16x16"}};
  const Plan large = make_plan(config::read_config(json));
  CHECK(large.collectives.front().candidates.front().engine.engine == sim::Engine::direct);
}

}  // namespace
}  // namespace equarx::plan::engine_test
