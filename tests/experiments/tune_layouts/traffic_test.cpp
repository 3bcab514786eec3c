#include "experiments/tune_layouts/traffic.hpp"

#include "tests/catch.hpp"
#include "tests/experiments/tune_layouts/small_training.hpp"

namespace equarx::tune_layouts::traffic_test {
namespace {

TEST_CASE("bytes by axis are those of the collectives of a step") {
  input::Json json = small_training();
  json["mesh"] = {{"data", 4}};
  const auto bytes = bytes_by_axis(config::read_step_config(json));
  REQUIRE(bytes.size() == 1);
  const double weights =
      workloads::parameters(config::read_step_config(json).training->training.model);
  // Norms of layers are not communicated apart.
  CHECK(bytes.at("data") == Approx(2.0 * weights * 2.0 * 3.0 / 4.0).epsilon(1e-3));
}

TEST_CASE("messages between stages and rings have their axes") {
  input::Json json = small_training();
  json["mesh"] = {{"pipeline", 2}, {"context", 2}};
  const auto bytes = bytes_by_axis(config::read_step_config(json));
  const double positions = 4.0 * 1024 / 2.0;
  CHECK(bytes.at("pipeline") == Approx(positions * 4096 * 2.0));
  // Keys once in the forward and once in the backward pass, and gradients twice, of 16 layers.
  CHECK(bytes.at("context") > 16 * 4 * positions * 2 * 1024 * 2.0 * 0.99);
}

}  // namespace
}  // namespace equarx::tune_layouts::traffic_test
