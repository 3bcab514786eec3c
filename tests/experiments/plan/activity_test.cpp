#include "experiments/plan/activity.hpp"

#include "experiments/config/hardware_json.hpp"
#include "models/collectives/casts.hpp"
#include "models/collectives/ring_program.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/machines.hpp"

namespace equarx::plan::activity_test {
namespace {

using collectives::WireBuffers;
using hardware::Activity;

collectives::Program plain_ring(std::uint32_t ranks, std::uint64_t elements) {
  return testing::make_ring_all_reduce(ranks, elements, numerics::ElementFormat::bf16, {});
}

TEST_CASE("vector work is that of all ranks") {
  constexpr double kBytes = 2.0 * (1 << 16);
  const Activity of_4 = vector_activity(plain_ring(4, 1 << 16), WireBuffers::vmem);
  CHECK(of_4.hbm_bytes == Approx(4.0 * 2.0 * kBytes));  // read once, written once
  CHECK(of_4.vector_ops >= 4.0 * 0.75 * (1 << 16));
  // Twice the elements, twice the work.
  const Activity twice = vector_activity(plain_ring(4, 1 << 17), WireBuffers::vmem);
  CHECK(twice.vector_ops == Approx(2.0 * of_4.vector_ops));
  CHECK(twice.hbm_bytes == Approx(2.0 * of_4.hbm_bytes));
}

TEST_CASE("work by kinds of instructions equals that of each bit for bit") {
  for (const auto style : {collectives::RingStyle::full_loop, collectives::RingStyle::semi_loop})
    for (const collectives::Program& program :
         {plain_ring(4, 12345),
          testing::make_ring_all_reduce(5, 54321, numerics::ElementFormat::bf16,
                                        testing::quantized(3, 4, style))}) {
      const Activity by_kind = vector_activity(program, CostKinds(program));
      const Activity expected = vector_activity(program, WireBuffers::vmem);
      CHECK(by_kind.vector_ops == expected.vector_ops);
      CHECK(by_kind.vmem_bytes == expected.vmem_bytes);
      CHECK(by_kind.hbm_bytes == expected.hbm_bytes);
    }
}

TEST_CASE("shared HBM is left to the traffic") {
  const Activity activity = vector_activity(plain_ring(4, 1 << 16), WireBuffers::hbm);
  CHECK(activity.hbm_bytes == 0.0);
  CHECK(activity.vector_ops > 0.0);
}

TEST_CASE("fused casts are no work, separate ones are") {
  const collectives::Program plain =
      testing::make_ring_all_reduce(4, 1 << 16, numerics::ElementFormat::fp8_e5m2, {});
  const auto bytes = [&](collectives::Casts casts) {
    return vector_activity(
               collectives::with_casts(plain, numerics::ElementFormat::bf16, false, casts),
               WireBuffers::vmem)
        .hbm_bytes;
  };
  const double without = vector_activity(plain, WireBuffers::vmem).hbm_bytes;
  CHECK(bytes(collectives::Casts::fused) == Approx(without));
  constexpr double kCasts = 2.0 * 3.0 * (1 << 16);  // read 2, write 1, or the reverse
  CHECK(bytes(collectives::Casts::separate) == Approx(without + 4.0 * kCasts));
}

TEST_CASE("links, networks and HBMs are told apart") {
  sim::Machine machine;
  machine.links = {{.name = "0->1", .rate = 1.0, .from = "0", .to = "1"},
                   {.name = "out", .rate = 1.0, .from = "1", .to = "network"},
                   {.name = "in", .rate = 1.0, .from = "network", .to = "0"},
                   {.name = "hbm", .rate = 1.0}};
  machine.hbm = {3};
  const Activity activity = traffic_activity(machine, {1, 10, 100, 1000});
  CHECK(activity.link_bytes == 1.0);
  CHECK(activity.network_bytes == 10.0);  // once, where they enter
  CHECK(activity.hbm_bytes == 1000.0);
}

TEST_CASE("a collective of representative chips has the activity of all") {
  config::ExperimentConfig config = config::read_config(testing::good_config());
  const auto activity_of_first = [&] {
    const Plan plan = make_plan(config);
    return collective_activity(plan.collectives.front().candidates.front(), config.chip,
                               config.wire_buffers, 2.0);
  };
  const Activity few = activity_of_first();
  config.simulation = config::SimulationMode::full;
  const Activity all = activity_of_first();
  CHECK(few.link_bytes == Approx(all.link_bytes));
  CHECK(few.link_bytes > 0.0);
  CHECK(few.time_s == all.time_s);
  CHECK(few.busy_s == Approx(few.hbm_bytes / config.chip.hbm_rate()));
}

}  // namespace
}  // namespace equarx::plan::activity_test
