#include "experiments/tune_layouts/layout.hpp"

#include <stdexcept>

#include "tests/catch.hpp"
#include "tests/experiments/tune_layouts/small_training.hpp"

namespace equarx::tune_layouts::layout_test {
namespace {

TEST_CASE("a layout is that of its configuration, and a configuration with it has it again") {
  const input::Json json = network_training();
  const config::StepConfig config = config::read_step_config(json);
  Layout layout = layout_of(config);
  CHECK(layout.length("pipeline") == 2);
  CHECK(layout.length("tensor") == 4);
  CHECK(layout.length("data") == 1);
  layout.lengths = {2, 1, 1, 1, 2, 2};
  layout.microbatches = 4;
  layout.schedule = steps::PipelineKind::interleaved;
  layout.chunks = 4;
  layout.context = steps::ContextMethod::all_gather;
  layout.distributed_optimizer = true;
  layout.remat = steps::kFullRemat;
  const input::Json changed = with_layout(json, config, layout);
  CHECK(changed["mesh"]["order"] == "machine");
  CHECK(layout_of(config::read_step_config(changed)) == layout);
  CHECK(layout_text(config, layout) ==
        "TP2 CP2 PP2, 4 microbatches, interleaved x4, all-gather, ZeRO-1, remat full");
}

TEST_CASE("numbers of layers of parts are kept for as many parts only") {
  input::Json json = network_training();
  json["step"]["training"]["pipeline"] = {{"layers", {15, 17}}};
  const config::StepConfig config = config::read_step_config(json);
  Layout layout = layout_of(config);
  CHECK(training_of(config, layout).pipeline.layers == std::vector<std::uint32_t>{15, 17});
  layout.lengths[axis_index("pipeline")] = 4;
  CHECK(training_of(config, layout).pipeline.layers.empty());
}

TEST_CASE("a layout without several chips has one axis") {
  CHECK(mesh_axes({}) == std::vector<steps::MeshAxis>{{.name = "data", .length = 1}});
  CHECK_THROWS_AS(axis_index("model"), std::logic_error);
}

}  // namespace
}  // namespace equarx::tune_layouts::layout_test
