#include "experiments/plan/plan.hpp"

#include <numeric>

#include "experiments/config/set_value.hpp"
#include "experiments/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::plan {
namespace {

using testing::changed;
using testing::check_refused;
using testing::good_config;
using testing::plan_of;
using testing::TemporaryFile;

/// The good configuration on a chip with so much memory that other limits are met first.
input::Json on_large_memory(const TemporaryFile& file) {
  input::Json chip = testing::tpu_v5e();
  chip["parameters"]["hbm_capacity"]["value"] = "1000 PB";
  chip["parameters"]["vmem_capacity"]["value"] = "1000 PB";
  std::ofstream(file.path()) << chip.dump();
  return changed("/hardware", file.path());
}

TEST_CASE("a plan has a machine, a program and a cost for each of its instructions") {
  const Plan plan = plan_of(changed("/simulation", "full"));
  REQUIRE(plan.collectives.size() == 2);
  for (const PlannedCollective& planned : plan.collectives) {
    REQUIRE(planned.candidates.size() == 1);
    CHECK(planned.unsuited.empty());
    const CollectivePlan& collective = planned.candidates.front();
    CHECK(collective.simulated.machine.ranks() == 8);
    CHECK_FALSE(collective.simulated.symmetric);
    CHECK(collective.program.ranks() == 8);
    const sim::Costs& costs = collective.costs;
    REQUIRE(costs.core_s.size() == collective.program.instructions.size());
    REQUIRE(costs.link_s.size() == collective.program.messages.size());
    CHECK(std::accumulate(costs.core_s.begin(), costs.core_s.end(), 0.0) > 0.0);
  }
}

TEST_CASE("ranks are neighbours on the machine, in both directions") {
  const Plan plan = plan_of(changed("/simulation", "full"));
  for (const PlannedCollective& planned : plan.collectives) {
    const sim::Machine& machine = planned.candidates.front().simulated.machine;
    CHECK(machine.links.size() == 20);  // 4x2 mesh: 10 cables
    for (const auto& ways : machine.ways)
      for (const sim::Way& way : ways) CHECK(way.route.size() == 1);
    CHECK(machine.links.front().rate == plan.config.chip.link_rate());
    CHECK(machine.links.front().latency == plan.config.chip.hop_latency.value);
  }
}

TEST_CASE("minishards and microshards that are left out are filled in") {
  input::Json json = changed("/tensor/bytes", "32 MiB");
  json["collectives"][1].erase("minishards");
  json["collectives"][1].erase("microshards");
  const Plan plan = plan_of(json);
  CHECK(plan.config.collectives[0].minishards == 1U);
  // 2^24 elements / 8 ranks / 2 directions / (128 x 1024) for each minishard
  CHECK(plan.config.collectives[1].minishards == 8U);
  CHECK(plan.config.collectives[1].microshards == 4U);
}

TEST_CASE("a tensor and its result must fit into HBM, to the byte") {
  input::Json largest = changed("/tensor/bytes", "8 GB");
  largest["collectives"][1].erase("minishards");
  largest["numerics"] = "off";
  CHECK_NOTHROW(plan_of(largest));
  check_refused([] { plan_of(changed("/tensor/bytes", "8000000002 B")); }, "/tensor",
                "use a tensor of at most 7.451 GiB");
  check_refused([] { plan_of(changed("/tensor/shape", "[281474976710656]")); }, "/tensor",
                "tpu-v5e has 14.90 GiB of HBM");
}

TEST_CASE("a tensor whose values this computer cannot hold is refused with what to do") {
  const TemporaryFile file("");
  input::Json json = on_large_memory(file);
  config::override_value(json, "/tensor/bytes", "100 TiB");
  config::override_value(json, "/collectives", R"([{"algorithm": "equarx", "minishards": 1}])");
  json.erase("baseline");
  check_refused([&] { plan_of(json); }, "/tensor", "use more minishards, a smaller tensor, or");
  check_refused([&] { plan_of(json); }, "/tensor", "\"numerics\": \"off\"");
  check_refused([&] { plan_of(json); }, "/tensor", "this computer has");
  json["numerics"] = "off";
  CHECK_NOTHROW(plan_of(json));
}

TEST_CASE("a machine that nobody would wait for is refused before it is built") {
  input::Json json = changed("/topology", R"({"mesh": "4096x4096"})");
  json["simulation"] = "full";
  check_refused([&] { plan_of(json); }, "/simulation", "simulating all 16777216 chips takes");
}

TEST_CASE("a program that this computer cannot hold is refused before it is made") {
  const TemporaryFile file("");
  input::Json json = on_large_memory(file);
  json["numerics"] = "off";
  config::override_value(json, "/tensor/bytes", "500 TiB");
  json["collectives"][1].erase("minishards");
  check_refused([&] { plan_of(json); }, "/collectives/1", "use fewer minishards or microshards");
  config::override_value(json, "/collectives/1/minishards", "1048576");
  config::override_value(json, "/collectives/1/microshards", "1048576");
  check_refused([&] { plan_of(json); }, "/collectives/1", "this computer has");
}

TEST_CASE("a chip whose links take all of its HBM is refused with the parameter") {
  input::Json chip = testing::tpu_v5e();
  chip["parameters"]["hbm_bandwidth"]["value"] = "100 GB/s";
  const TemporaryFile file(chip.dump());
  const input::Json json = changed("/hardware", file.path());
  check_refused([&] { plan_of(json); }, "/hardware", "hbm_bandwidth");
}

TEST_CASE("minishards whose buffers do not fit in VMEM are refused, with a number that does") {
  // 1 GiB of bf16 over 8 ranks: 64 Mi elements a shard x 12 B = 768 MiB, six times the 128 MiB of v5e.
  input::Json json = changed("/tensor/bytes", "1 GiB");
  config::override_value(json, "/numerics", "off");
  config::override_value(json, "/collectives/1/minishards", "5");
  check_refused([&] { plan_of(json); }, "/collectives/1/minishards",
                "use at least 2 times as many");
  config::override_value(json, "/collectives/1/minishards", "6");
  CHECK_NOTHROW(plan_of(json));
}

TEST_CASE("a phase that is not quantized has the format of the tensor") {
  const auto formats = [](const std::string& quantize) {
    const Plan plan = plan_of(changed("/collectives/1/quantize", quantize));
    const collectives::Program& program = plan.collectives[1].candidates.front().program;
    return std::pair(program.format(collectives::Phase::reduce_scatter),
                     program.format(collectives::Phase::all_gather));
  };
  using numerics::ElementFormat;
  CHECK(formats("both").first.element == ElementFormat::int8);
  CHECK(formats("both").second.element == ElementFormat::int8);
  CHECK(formats("reduce-scatter").first.scaled);
  CHECK(formats("reduce-scatter").second == numerics::BlockFormat{.element = ElementFormat::bf16});
  CHECK(formats("all-gather").first == numerics::BlockFormat{.element = ElementFormat::bf16});
  CHECK(formats("all-gather").second.scaled);
}

TEST_CASE("a uniform ring is simulated by three representative chips, asked for or not") {
  for (const std::string mode : {"auto", "symmetric"})
    for (const PlannedCollective& planned : plan_of(changed("/simulation", mode)).collectives) {
      CHECK(planned.candidates.front().simulated.symmetric);
      CHECK(planned.candidates.front().simulated.machine.ranks() == 3);
    }
}

}  // namespace
}  // namespace equarx::plan
