#include "experiments/tune_layouts/floors.hpp"

#include <limits>
#include <random>
#include <stdexcept>

#include "experiments/config/mesh_json.hpp"
#include "experiments/tune_layouts/space.hpp"
#include "experiments/tune_layouts/trial.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tune_layouts/small_training.hpp"

namespace equarx::tune_layouts::floors_test {
namespace {

/// Bounds and results of layouts of a configuration.
class Compared {
 public:
  explicit Compared(const input::Json& json)
      : json_(json),
        config_(config::read_step_config(json)),
        rates_(workloads::compute_rates(config_.machine.chip)),
        collectives_(config_.machine) {
    json_.erase("variants");
  }

  /// Shares of the simulated memory and time.
  struct Shares {
    double memory = 0.0;
    double time = 0.0;
  };

  Shares shares(const Layout& layout) {
    const steps::Training training = training_of(config_, layout);
    const steps::Mesh mesh =
        config::lay_on(config_.machine.topology, mesh_axes(layout), device_order(json_));
    Floors floors(training, mesh, rates_, collectives_);
    const Trial trial = run_layout(with_layout(json_, config_, layout), layout,
                                   std::numeric_limits<double>::infinity());
    return {floors.memory_bytes() / trial.memory_bytes, floors.time_s() / trial.time_s};
  }

  /// Checks `count` layouts of the space, drawn at random.
  void check_some(int count) {
    const std::vector<Layout> all = layouts(config_, {});
    std::mt19937 random(1);
    for (int i = 0; i < count; ++i) {
      const Layout& layout = all[random() % all.size()];
      INFO(layout_text(config_, layout));
      const Shares found = shares(layout);
      CHECK(found.memory <= 1.0 + 1e-9);
      CHECK(found.time <= 1.0 + 1e-9);
      CHECK(found.memory > 0.4);
      CHECK(found.time > 0.2);
    }
  }

 private:
  input::Json json_;
  config::StepConfig config_;
  workloads::ComputeRates rates_;
  CollectiveFloors collectives_;
};

TEST_CASE("bounds never exceed the memory and the time of random layouts") {
  Compared(small_training()).check_some(25);
  Compared(torus_training()).check_some(25);
  Compared(network_training()).check_some(25);
}

TEST_CASE("bounds of a pipeline contain its bubble and the collectives of its layers") {
  Compared compared(network_training());
  Layout layout{.microbatches = 2};
  layout.lengths = {8, 1, 1, 1, 1, 1};
  CHECK(compared.shares(layout).time > 0.95);
  layout.lengths = {2, 1, 1, 1, 1, 4};
  CHECK(compared.shares(layout).time > 0.9);
  CHECK(compared.shares(layout).memory > 0.9);
}

TEST_CASE("layouts that the model cannot be divided into have no bounds") {
  Compared compared(small_training());
  Layout layout{.microbatches = 3};
  CHECK_THROWS_AS(compared.shares(layout), std::invalid_argument);
}

}  // namespace
}  // namespace equarx::tune_layouts::floors_test
