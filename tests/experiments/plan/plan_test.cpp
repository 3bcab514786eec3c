#include "experiments/plan/plan.hpp"

#include <numeric>

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::plan::plan_test {
namespace {

using testing::changed;
using testing::check_refused;
using testing::plan_of;

TEST_CASE("a plan has a machine, a program and a cost for each of its instructions") {
  const Plan plan = plan_of(changed("/simulation", "full"));
  REQUIRE(plan.collectives.size() == 2);
  for (const PlannedCollective& planned : plan.collectives) {
    REQUIRE(planned.candidates.size() == 1);
    CHECK(planned.infeasible.empty());
    const CollectivePlan& collective = planned.candidates.front();
    CHECK(collective.simulated.machine().ranks() == 8);
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
    const sim::Machine& machine = planned.candidates.front().simulated.machine();
    CHECK(machine.links.size() == 20);  // 4x2 mesh: 10 links
    for (const auto& out_ports : machine.out_ports)
      for (const sim::OutPort& port : out_ports) CHECK(port.route.size() == 1);
    CHECK(machine.links.front().rate == plan.config.chip.link_rate());
    CHECK(machine.links.front().latency == plan.config.chip.hop_latency.value);
  }
}

TEST_CASE("missing minishards and microshards are chosen, by size if requested") {
  input::Json json = changed("/tensor/bytes", "32 MiB");
  json["collectives"][1].erase("minishards");
  json["collectives"][1].erase("microshards");
  const auto cut_of = [](const Plan& plan) {
    const CollectivePlan& one = plan.collectives[1].candidates.front();
    return one.program.partition.common_cut().value();
  };
  const Plan fastest = plan_of(json);
  // 2^24 elements / 8 ranks / 2 directions / (128 x 1024) for each minishard
  CHECK(cut_of(fastest).minishards == 8U);
  CHECK_THAT(fastest.collectives[1].candidates.front().cut_reason, ContainsSubstring("best of "));
  json["collectives"][1]["cuts"] = "by-size";
  const Plan by_size = plan_of(json);
  CHECK(cut_of(by_size) == collectives::Cut{.minishards = 8, .microshards = 4});
  CHECK(by_size.collectives[1].candidates.front().cut_reason == "by size: requested");
}

TEST_CASE("an unquantized phase has the format of the tensor") {
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

TEST_CASE("integer codes whose sums over all ranks overflow are refused") {
  input::Json json = testing::changed("/topology", R"({"torus": "16x8"})");
  json["collectives"] = {{{"algorithm", "torus"}, {"format", "global-qsgd-int8"}}};
  json.erase("baseline");
  check_refused([&] { plan_of(json); }, "/collectives/0/format", "up to 127 ranks");
  json["topology"] = {{"torus", "8x8"}};
  CHECK_NOTHROW(plan_of(json));
  json["topology"] = {{"torus", "16x8"}};
  json["collectives"][0]["format"] = "global-qsgd-exp8";  // has headroom for any number
  CHECK_NOTHROW(plan_of(json));
}

TEST_CASE("auto tries pairwise-summed codes with pairwise algorithms") {
  input::Json json = testing::changed("/topology", R"({"torus": "4x2"})");
  json["collectives"] = {{{"algorithm", "auto"}, {"format", "global-qsgd-exp8"}}};
  json.erase("baseline");
  const Plan plan = plan_of(json);
  CHECK(plan.collectives[0].candidates.size() == 3);  // ring, torus, halving-doubling
  for (const CollectivePlan& candidate : plan.collectives[0].candidates)
    for (const collectives::Instruction& one : candidate.program.instructions) {
      CHECK(one.op != collectives::Op::accumulate);
      CHECK(one.op != collectives::Op::reduce);
    }
}

TEST_CASE("the plan of any algorithm determines the scale shared by all ranks") {
  for (const std::string algorithm : {"ring", "torus", "two-shot", "one-shot", "halving-doubling",
                                      "recursive-doubling", "binomial-tree", "auto"}) {
    CAPTURE(algorithm);
    input::Json json = testing::changed("/topology", R"({"torus": "4x2"})");
    json["collectives"] = {{{"algorithm", algorithm}, {"format", "fp8lm-e4m3"}}};
    json.erase("baseline");
    const Plan plan = plan_of(json);
    const collectives::Program& program = plan.collectives[0].candidates.front().program;
    CHECK(program.instructions.front().op == collectives::Op::find_amax);
    CHECK(program.tensor_format == numerics::ElementFormat::fp8_e4m3);
  }
}

}  // namespace
}  // namespace equarx::plan::plan_test
