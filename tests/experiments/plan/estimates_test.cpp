#include "experiments/plan/estimates.hpp"

#include <string>
#include <utility>

#include "base/input/json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/plan/plan.hpp"
#include "experiments/plan/programs.hpp"
#include "models/collectives/traffic.hpp"
#include "sim/time_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/exchanges.hpp"

namespace equarx::plan::estimates_test {
namespace {

using testing::exchange_on;

config::ExperimentConfig config_with(const std::string& algorithm, const std::string& size) {
  input::Json json = testing::changed("/topology", R"({"torus": "4x4"})");
  if (collectives::is_of_slices(collectives::find_algorithm(algorithm)->layout))
    json["topology"]["network"] = {{"slices", 3}, {"bandwidth", "5 GB/s"}, {"latency", "5 us"}};
  if (collectives::find_algorithm(algorithm)->in_switch) {
    json["hardware"] = "h100";
    json["topology"] = {{"switch", 8}};
  }
  if (collectives::find_algorithm(algorithm)->layout == collectives::RankLayout::nodes) {
    json["topology"].erase("torus");
    json["topology"]["switch"] = 8;
  }
  json["tensor"] = {{"bytes", size}};
  json["collectives"] = {{{"algorithm", algorithm}, {"minishards", 3}, {"microshards", 2}}};
  json.erase("baseline");
  return config::read_config(json);
}

TEST_CASE("the estimated messages approximate the program") {
  for (const config::Algorithm algorithm :
       config::algorithms_of(collectives::Collective::all_reduce)) {
    CAPTURE(algorithm->name);
    const config::ExperimentConfig config = config_with(std::string(algorithm->name), "1 MiB");
    const config::CollectiveConfig& collective = config.collectives.front();
    const collectives::RankGrid grid = value_or_throw(rank_grid(algorithm, config, ""));
    const double sent = static_cast<double>(collectives::total_messages(
                            make_program(collective, grid, config), grid.ranks())) /
                        grid.ranks();
    CHECK(estimate_messages(collective, grid, config) >= 0.5 * sent);
    CHECK(estimate_messages(collective, grid, config) <= 2.0 * sent);
    const auto time_s = [&](sim::Engine engine) {
      return estimate_simulation_s(collective, grid, config, engine, sent);
    };
    CHECK(time_s(sim::Engine::direct) > 0.0);
    CHECK(time_s(sim::Engine::simgrid) > 10.0 * time_s(sim::Engine::direct));
  }
}

TEST_CASE("the estimate for shared HBM grows with the simulated chips") {
  config::ExperimentConfig config = config_with("torus", "1 MiB");
  const config::CollectiveConfig& collective = config.collectives.front();
  const collectives::RankGrid grid = value_or_throw(rank_grid(collective.algorithm, config, ""));
  const auto time_s = [&](config::SimulationMode simulation, collectives::WireBuffers buffers) {
    config.simulation = simulation;
    config.wire_buffers = buffers;
    return estimate_simulation_s(collective, grid, config, sim::Engine::direct, 1000.0);
  };
  using collectives::WireBuffers;
  using config::SimulationMode;
  const double own_s = time_s(SimulationMode::automatic, WireBuffers::vmem);
  const double few_s = time_s(SimulationMode::automatic, WireBuffers::hbm);
  const double all_s = time_s(SimulationMode::full, WireBuffers::hbm);
  CHECK(few_s > own_s);
  CHECK(all_s > few_s);
  CHECK(all_s > time_s(SimulationMode::full, WireBuffers::vmem));
}

TEST_CASE("the estimated classes of an exchange on a torus are those that are simulated") {
  for (const std::string lengths :
       {"3x3", "5x5", "5x3", "6x4", "5x4", "7x4", "4x8", "8x8", "4x4x4"}) {
    CAPTURE(lengths);
    config::ExperimentConfig config = exchange_on("torus", lengths, "direct", 1);
    const CollectivePlan plan = make_plan(config).collectives.front().candidates.front();
    const auto estimated = [&] {
      return estimate_classes(plan.config.algorithm, plan.program.grid(), config);
    };
    CHECK(estimated() == plan.simulated.by_class->machine.ranks());
    config.simulation = config::SimulationMode::full;
    CHECK(estimated() == plan.program.ranks());
  }
  for (const auto& [kind, lengths] :
       {std::pair{"torus", "4x4x2"}, {"torus", "3x4x5"}, {"mesh", "4x4"}}) {
    CAPTURE(kind, lengths);
    const config::ExperimentConfig config = exchange_on(kind, lengths, "direct", 1);
    const CollectivePlan plan = make_plan(config).collectives.front().candidates.front();
    CHECK(plan.simulated.by_class == nullptr);
    CHECK(estimate_classes(plan.config.algorithm, plan.program.grid(), config) ==
          plan.program.ranks());
  }
}

TEST_CASE("auto simulates an all-to-all on 16x16 chips") {
  config::ExperimentConfig config = exchange_on("torus", "16x16", "direct", 1);
  config.collectives.front().algorithm = config::kAutomatic;
  CHECK(try_plan(config).has_value());
  config = exchange_on("torus", "16x16", "direct", 4);
  config.collectives.front().algorithm = config::kAutomatic;
  config.simulation = config::SimulationMode::full;
  const auto slow = try_plan(config);
  REQUIRE_FALSE(slow.has_value());
  CHECK_THAT(slow.error().text(), Catch::Contains("simulating it would take about"));
}

TEST_CASE("a tensor too small for the program has no messages") {
  const config::ExperimentConfig config = config_with("ring", "64 B");
  const config::CollectiveConfig& collective = config.collectives.front();
  CHECK(estimate_messages(collective, value_or_throw(rank_grid(collective.algorithm, config, "")),
                          config) == 0.0);
}

}  // namespace
}  // namespace equarx::plan::estimates_test
