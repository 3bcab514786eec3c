#include "experiments/step/machine.hpp"

#include "experiments/config/step_json.hpp"
#include "experiments/step/run.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/steps.hpp"

namespace equarx::step {
namespace {

using testing::good_step;
using testing::with;

StepPlan plan(const input::Json& json) { return make_plan(config::read_step_config(json)); }

TEST_CASE("one more chip than there are peers stands for all") {
  const StepPlan made = plan(good_step());
  CHECK(made.variants[0].symmetric);
  CHECK(made.variants[0].machine.ranks() == 3);
}

TEST_CASE("all chips are simulated where some link would be used in two ways") {
  // A mesh does not wrap around, so rings are folded.
  const StepPlan folded = plan(with(good_step(), "/topology", R"({"mesh": "4x4"})"));
  CHECK_FALSE(folded.variants[0].symmetric);
  CHECK(folded.variants[0].machine.ranks() == 16);
  // A torus and a ring over the same axes.
  input::Json json = good_step();
  json["mesh"] = {{"data", 16}};
  json["step"]["tasks"].push_back(
      {{"name", "other"},
       {"collective", {{"kind", "reduce-scatter"}, {"axes", {"data"}}, {"bytes", "1 MiB"}}}});
  CHECK(plan(json).variants[0].symmetric);
  json["variants"] = {{{"label", "ring"},
                       {"quantize", {{{"where", {{"group", "other"}}}, {"algorithm", "ring"}}}}}};
  const StepPlan both = plan(json);
  CHECK_FALSE(both.variants[0].symmetric);
  CHECK_THAT(both.variants[0].reason, Catch::Contains("use the same links in different ways"));
  testing::check_refused([&] { plan(with(json, "/simulation", "symmetric")); }, "/simulation",
                         "use \"auto\" or \"full\"");
}

TEST_CASE("groups of a node whose GPUs are joined each to each do not meet") {
  input::Json json = good_step();
  json["hardware"] = "h100";
  json["topology"] = {{"fully-connected", 8}};
  json["mesh"] = {{"data", 2}, {"fsdp", 4}};
  json["step"]["tasks"] = input::Json::parse(R"([{"name": "sum", "collective":
      {"kind": "all-reduce", "axes": ["fsdp"], "bytes": "4 MiB"}}])");
  json.erase("variants");
  const StepPlan half = plan(json);
  CHECK(half.variants[0].symmetric);
  const double of_half_s = half.variants[0].calls[0]->alone_s;
  input::Json full = with(json, "/simulation", "full");
  const StepResult two = run_step(plan(full), [](const std::string&) {});
  CHECK(two.variants[0].time_s == Approx(of_half_s).epsilon(1e-9));
  json["topology"] = {{"fully-connected", 4}};
  json["mesh"] = {{"data", 1}, {"fsdp", 4}};
  const StepResult four = run_step(plan(json), [](const std::string&) {});
  CHECK(four.variants[0].time_s == Approx(of_half_s).epsilon(1e-9));
}

TEST_CASE("groups lie on parts of the machine of their own") {
  const StepPlan made = plan(with(good_step(), "/simulation", "full"));
  const VariantPlan& variant = made.variants[0];
  REQUIRE(variant.work.programs.size() == 1);
  // "data" lies on the first axis: chips whose numbers differ by four.
  CHECK(variant.work.programs[0].rank_of_chip[0] == 0);
  CHECK(variant.work.programs[0].rank_of_chip[3] == 0);
  CHECK(variant.work.programs[0].rank_of_chip[4] == 1);
  for (std::uint32_t chip = 0; chip < 16; ++chip)
    for (const sim::Way& way : variant.machine.ways[chip]) {
      CHECK(way.peer % 4 == chip % 4);
      CHECK(way.route.size() == 1);
    }
}

}  // namespace
}  // namespace equarx::step
