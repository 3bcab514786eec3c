#include "experiments/plan/estimates.hpp"

#include "base/input/json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/plan/programs.hpp"
#include "models/collectives/traffic.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::plan::estimates_test {
namespace {

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

TEST_CASE("a tensor too small for the program has no messages") {
  const config::ExperimentConfig config = config_with("ring", "64 B");
  const config::CollectiveConfig& collective = config.collectives.front();
  CHECK(estimate_messages(collective, value_or_throw(rank_grid(collective.algorithm, config, "")),
                          config) == 0.0);
}

}  // namespace
}  // namespace equarx::plan::estimates_test
