#include "experiments/tune_layouts/space.hpp"

#include <algorithm>

#include "base/input/errors.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tune_layouts/small_training.hpp"

namespace equarx::tune_layouts::space_test {
namespace {

std::vector<Layout> layouts_with(const input::Json& json, const SpaceOptions& options) {
  return layouts(config::read_step_config(json), options);
}

TEST_CASE("lengths of axes multiply to the chips, and layouts are distinct") {
  const std::vector<Layout> all = layouts_with(small_training(), {});
  REQUIRE(!all.empty());
  for (const Layout& layout : all) {
    std::uint32_t chips = 1;
    for (const std::uint32_t length : layout.lengths) chips *= length;
    CHECK(chips == 4);
    CHECK(std::ranges::count(all, layout) == 1);
    CHECK((layout.chunks == 1 || layout.microbatches % layout.length("pipeline") == 0));
  }
}

TEST_CASE("layouts are as the batch, the heads and the options permit") {
  input::Json json = small_training();
  json["mesh"] = {{"tensor", 4}};
  json["step"]["training"]["batch"] = 2;
  for (const Layout& layout : layouts_with(json, {.axes = {"data", "fsdp", "tensor"}})) {
    CHECK(layout.length("data") * layout.length("fsdp") * layout.microbatches <= 2);
    CHECK(layout.length("pipeline") * layout.length("context") == 1);
  }
  for (const Layout& layout : layouts_with(small_training(), {.fixed = {{"tensor", 2}}}))
    CHECK(layout.length("tensor") == 2);
  json["step"]["training"]["batch"] = 12;
  json["step"]["training"]["microbatches"] = 3;
  const std::vector<Layout> all = layouts_with(json, {});
  CHECK(std::ranges::count(all, 3U, &Layout::microbatches) > 0);
}

TEST_CASE("options that no layout agrees with are refused") {
  CHECK_THROWS_WITH(layouts_with(small_training(), {.fixed = {{"tensor", 3}}}),
                    "--layout: tensor 3 does not divide 4 chips; use 1, 2, 4");
  CHECK_THROWS_WITH(layouts_with(small_training(), {.axes = {"model"}}),
                    ContainsSubstring("--axes: 'model' is no axis of training; use pipeline, "));
  CHECK_THROWS_WITH(
      layouts_with(
          small_training(),
          {.fixed = {{"tensor", 1}, {"data", 1}, {"pipeline", 1}, {"fsdp", 1}, {"context", 2}}}),
      ContainsSubstring("--layout: no lengths of the axes multiply to 4 chips"));
  input::Json odd = small_training();
  odd["step"]["training"]["batch"] = 4;
  CHECK_THROWS_AS(layouts_with(odd, {.axes = {"expert"}}), input::InputError);
}

TEST_CASE("fixed lengths are read from texts") {
  CHECK(read_fixed({"tensor=4", "data=2"}) ==
        std::map<std::string, std::uint32_t>{{"data", 2}, {"tensor", 4}});
  for (const char* const wrong :
       {"tensor", "tensor=", "tensor=x", "tensor=0", "tensor=-1", "tensor=4x"})
    CHECK_THROWS_WITH(read_fixed({wrong}), ContainsSubstring("is not a length of an axis"));
  CHECK_THROWS_WITH(read_fixed({"model=4"}), ContainsSubstring("is no axis of training"));
  CHECK_THROWS_WITH(read_fixed({"data=1", "data=2"}), ContainsSubstring("given twice"));
}

TEST_CASE("the order of chips is a name") {
  input::Json json = network_training();
  CHECK(device_order(json) == steps::DeviceOrder::machine);
  CHECK(device_order(small_training()) == steps::DeviceOrder::jax);
  json["mesh"]["order"] = {0, 1, 2, 3, 4, 5, 6, 7};
  CHECK_THROWS_WITH(device_order(json), ContainsSubstring("/mesh/order: lists the chips"));
}

}  // namespace
}  // namespace equarx::tune_layouts::space_test
