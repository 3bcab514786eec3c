#include "experiments/tune_layouts/collective_floors.hpp"

#include "experiments/config/mesh_json.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tune_layouts/small_training.hpp"

namespace equarx::tune_layouts::collective_floors_test {
namespace {

using collectives::Collective;

TEST_CASE("collectives take at least the time of their bytes on the links of a chip") {
  const config::StepConfig config = config::read_step_config(torus_training());
  CollectiveFloors floors(config.machine);
  constexpr double kElements = 1 << 24;
  const double rate = config.machine.chip.link_bandwidth.value;
  const double one_link_s = 2.0 * kElements * 7.0 / 8.0 / rate;
  const double gather_s =
      floors.seconds(config.mesh, {Collective::all_gather, {"fsdp"}, kElements});
  CHECK(gather_s > one_link_s / 4.0);  // of two axes in two directions
  CHECK(gather_s < one_link_s);
  const double sum_s = floors.seconds(config.mesh, {Collective::all_reduce, {"fsdp"}, kElements});
  CHECK(sum_s == Approx(2.0 * gather_s).epsilon(0.2));
  CHECK(floors.seconds(config.mesh, {Collective::all_gather, {"fsdp"}, kElements}) == gather_s);
}

TEST_CASE("single chips and groups that do not lie along axes take no time") {
  const config::StepConfig config = config::read_step_config(torus_training());
  CollectiveFloors floors(config.machine);
  CHECK(floors.seconds(config.mesh, {Collective::all_gather, {"tensor"}, 1e6}) == 0.0);
  CHECK(floors.seconds(config.mesh, {Collective::all_gather, {"fsdp"}, 0.0}) == 0.0);
  steps::Mesh listed = config.mesh;
  listed.order = {7, 6, 5, 4, 3, 2, 1, 0};
  CHECK(floors.seconds(listed, {Collective::all_gather, {"fsdp"}, 1e6}) == 0.0);
}

}  // namespace
}  // namespace equarx::tune_layouts::collective_floors_test
