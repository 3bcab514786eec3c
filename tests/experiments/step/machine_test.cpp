#include "experiments/step/machine.hpp"

#include <algorithm>

#include "experiments/config/step_json.hpp"
#include "experiments/step/run.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/steps.hpp"

namespace equarx::step::machine_test {
namespace {

using testing::changed;
using testing::good_step;

StepPlan plan(const input::Json& json) { return make_plan(config::read_step_config(json)); }

double time_s(const input::Json& json) {
  return run_step(plan(json), [](const std::string&) {}).runs[0].time_s;
}

TEST_CASE("representatives are one chip more than there are peers") {
  const StepPlan made = plan(good_step());
  CHECK(made.variants[0].symmetric);
  CHECK(made.variants[0].machine.ranks() == 3);
}

TEST_CASE("all chips, or one of each class, are simulated if links are shared by different rings") {
  // A mesh does not wrap around, so rings are folded.
  const input::Json mesh = changed(good_step(), "/topology", R"({"mesh": "4x4"})");
  CHECK(plan(mesh).variants[0].reason == "2 of 16 chips simulated: one per class");
  CHECK(plan(changed(mesh, "/simulation", "full")).variants[0].machine.ranks() == 16);
  CHECK(time_s(changed(mesh, "/simulation", "full")) == Approx(time_s(mesh)).epsilon(1e-9));
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
  CHECK_THAT(both.variants[0].reason, Catch::Contains("share links but differ in rings"));
  testing::check_refused([&] { plan(changed(json, "/simulation", "symmetric")); }, "/simulation",
                         "use \"auto\" or \"full\"");
}

TEST_CASE("groups of a fully connected node do not contend") {
  input::Json json = good_step();
  json["hardware"] = "h100";
  json["topology"] = {{"fully-connected", 8}};
  json["mesh"] = {{"data", 2}, {"fsdp", 4}};
  json["step"]["tasks"] = input::Json::parse(R"([{"name": "sum", "collective":
      {"kind": "all-reduce", "axes": ["fsdp"], "bytes": "4 MiB"}}])");
  json.erase("variants");
  const StepPlan half = plan(json);
  CHECK(half.variants[0].symmetric);
  const double of_half_s = half.variants[0].calls[0]->isolated_s;
  input::Json full = changed(json, "/simulation", "full");
  const StepResult two = run_step(plan(full), [](const std::string&) {});
  CHECK(two.runs[0].time_s == Approx(of_half_s).epsilon(1e-9));
  json["topology"] = {{"fully-connected", 4}};
  json["mesh"] = {{"data", 1}, {"fsdp", 4}};
  const StepResult four = run_step(plan(json), [](const std::string&) {});
  CHECK(four.runs[0].time_s == Approx(of_half_s).epsilon(1e-9));
}

TEST_CASE("collectives on different axes share the ports of a switch, alike on all chips") {
  input::Json json = good_step();
  json["hardware"] = "h100";
  json["topology"] = {{"switch", 8}};
  json["mesh"] = {{"data", 2}, {"fsdp", 4}};
  json["step"]["tasks"] = input::Json::parse(R"([
      {"name": "sum", "stream": "one", "collective":
       {"kind": "all-reduce", "axes": ["fsdp"], "bytes": "64 MiB"}},
      {"name": "gather", "stream": "other", "collective":
       {"kind": "all-gather", "axes": ["data"], "bytes": "64 MiB"}}])");
  json.erase("variants");
  const auto silent = [](const std::string&) {};
  const StepPlan few = plan(json);
  REQUIRE(few.variants[0].symmetric);
  CHECK(few.variants[0].machine.ranks() == 5);  // three peers of one axis, one of the other
  const double few_s = run_step(few, silent).runs[0].time_s;
  const StepResult all = run_step(plan(changed(json, "/simulation", "full")), silent);
  CHECK(all.runs[0].time_s == Approx(few_s).epsilon(1e-9));
  const auto alone_s = [&](std::size_t task) {
    input::Json one = json;
    one["step"]["tasks"] = input::Json::array({json["step"]["tasks"][task]});
    return run_step(plan(one), silent).runs[0].time_s;
  };
  CHECK(few_s > 1.1 * std::max(alone_s(0), alone_s(1)));
  CHECK(few_s < alone_s(0) + alone_s(1));
}

/// A collective of eight GPUs on a switch, implemented by `rule`.
input::Json sum_on_switch(const input::Json& rule) {
  input::Json json = good_step();
  json["hardware"] = "h100";
  json["topology"] = {{"switch", 8}};
  json["mesh"] = {{"data", 1}, {"fsdp", 8}};
  json["step"]["tasks"] = input::Json::parse(R"([{"name": "sum", "collective":
      {"kind": "all-reduce", "axes": ["fsdp"], "bytes": "4 MiB"}}])");
  json["variants"] = {{{"label", "one"}, {"quantize", input::Json::array({rule})}}};
  return json;
}

TEST_CASE("collectives of steps take as long under protocols and in the switch as in isolation") {
  for (const input::Json& rule :
       {input::Json{{"algorithm", "nvls"}},
        input::Json{{"algorithm", "nvls"}, {"protocol", "simple"}},
        input::Json{{"algorithm", "ring"}, {"protocol", "ll"}},
        input::Json{{"algorithm", "two-shot"}, {"protocol", "simple"}},
        input::Json{{"algorithm", "auto"}, {"format", "bf16"}, {"protocol", "auto"}}}) {
    CAPTURE(rule.dump());
    for (const std::string simulation : {"auto", "full"}) {
      const StepPlan made = plan(changed(sum_on_switch(rule), "/simulation", simulation));
      CHECK(made.variants[0].symmetric == (simulation == "auto"));
      const double isolated_s = made.variants[0].calls[0]->isolated_s;
      const double time_s = run_step(made, [](const std::string&) {}).runs[0].time_s;
      CHECK(time_s == Approx(isolated_s).epsilon(1e-6));
    }
  }
}

TEST_CASE("collectives under different protocols each keep their latency and rate in a step") {
  input::Json json = sum_on_switch({{"algorithm", "ring"}, {"protocol", "ll128"}});
  json["step"]["tasks"] = input::Json::parse(R"([
      {"name": "sum", "stream": "one", "collective":
       {"kind": "all-reduce", "axes": ["fsdp"], "bytes": "16 MiB"}},
      {"name": "gather", "stream": "one", "after": ["sum"], "collective":
       {"kind": "all-gather", "axes": ["fsdp"], "bytes": "64 KiB"}}])");
  json["variants"][0]["quantize"] = input::Json::parse(R"([
      {"where": {"collective": "all-gather"}, "algorithm": "ring", "protocol": "ll"},
      {"where": {"collective": "all-reduce"}, "algorithm": "nvls", "protocol": "simple"}])");
  for (const std::string engine : {"direct", "simgrid"}) {
    const StepPlan made = plan(changed(json, "/engine", engine));
    const auto& calls = made.variants[0].calls;
    const double time_s = run_step(made, [](const std::string&) {}).runs[0].time_s;
    CHECK(time_s == Approx(calls[0]->isolated_s + calls[1]->isolated_s).epsilon(1e-6));
  }
}

TEST_CASE("what steps cannot simulate of a switch is refused") {
  input::Json json = sum_on_switch({{"algorithm", "ring"}, {"protocol", "ll"}});
  json["topology"]["network"] = {{"slices", 2}, {"bandwidth", "48 GB/s"}, {"latency", "0 s"}};
  json["mesh"] = {{"data", 2}, {"fsdp", 8}};
  CHECK_NOTHROW(plan(json));  // the group is within a node
  json["step"]["tasks"][0]["collective"]["axes"] = {"data", "fsdp"};
  json["variants"][0]["quantize"][0]["algorithm"] = "hierarchical-two-shot";
  CHECK_THROWS_WITH(plan(json), ContainsSubstring("groups of chips on one switch"));
  json["variants"][0]["quantize"][0] = {{"algorithm", "node-ring"}};
  CHECK_THROWS_WITH(plan(json), ContainsSubstring("concurrent streams on every chip"));
  input::Json both =
      sum_on_switch({{"where", {{"collective", "all-reduce"}}}, {"algorithm", "nvls"}});
  both["step"]["tasks"].push_back(input::Json::parse(R"({"name": "gather", "stream": "other",
      "collective": {"kind": "all-gather", "axes": ["fsdp"], "bytes": "64 KiB"}})"));
  CHECK_NOTHROW(plan(both));
  CHECK_THROWS_WITH(plan(changed(both, "/simulation", "full")),
                    ContainsSubstring("cannot be simulated chip by chip"));
}

TEST_CASE("groups are mapped to disjoint parts of the machine") {
  const StepPlan made = plan(changed(good_step(), "/simulation", "full"));
  const VariantPlan& variant = made.variants[0];
  REQUIRE(variant.work.programs.size() == 1);
  // "data" is mapped to the first axis: chips whose numbers differ by four.
  CHECK(variant.work.programs[0].rank_of_chip[0] == 0);
  CHECK(variant.work.programs[0].rank_of_chip[3] == 0);
  CHECK(variant.work.programs[0].rank_of_chip[4] == 1);
  for (std::uint32_t chip = 0; chip < 16; ++chip)
    for (const sim::OutPort& port : variant.machine.out_ports[chip]) {
      CHECK(port.peer % 4 == chip % 4);
      CHECK(port.route.size() == 1);
    }
}

/// A step with a single task on 4 x 4 chips.
input::Json only(const input::Json& task) {
  input::Json json = good_step();
  json.erase("variants");
  json["step"] = {{"tasks", {task}}};
  return json;
}

TEST_CASE("listed groups take as long as equal groups along an axis") {
  input::Json along =
      only({{"name", "sum"},
            {"collective", {{"kind", "all-reduce"}, {"axes", {"fsdp"}}, {"bytes", "4 MiB"}}}});
  along["simulation"] = "full";
  along["variants"] = {{{"label", "a"}, {"quantize", {{{"algorithm", "two-shot"}}}}}};
  input::Json listed = along;
  input::Json& collective = listed["step"]["tasks"][0]["collective"];
  collective.erase("axes");
  collective["groups"] = input::Json::parse("[[0,1,2,3],[4,5,6,7],[8,9,10,11],[12,13,14,15]]");
  CHECK(time_s(listed) == Approx(time_s(along)).epsilon(1e-12));
  // With another order of mesh axes the same numbers are other chips.
  listed["mesh"] = {{"fsdp", {{"length", 4}, {"axes", {1}}}},
                    {"data", {{"length", 4}, {"axes", {0}}}}};
  const StepPlan turned = plan(listed);
  CHECK(turned.variants[0].work.programs[0].rank_of_chip[1] == 0);
  CHECK(turned.variants[0].work.programs[0].rank_of_chip[4] == 1);
}

TEST_CASE("listed groups are all simulated, as they may share links") {
  const input::Json apart = only(
      {{"name", "sum"},
       {"collective",
        {{"kind", "all-gather"},
         {"groups", input::Json::parse("[[0,1],[2,3],[4,5],[6,7],[8,9],[10,11],[12,13],[14,15]]")},
         {"bytes", "4 MiB"}}}});
  const StepPlan made = plan(apart);
  CHECK_FALSE(made.variants[0].symmetric);
  CHECK_THAT(made.variants[0].reason, Catch::Contains("groups are listed"));
  // Neighbors have a link in each direction; chips two apart share links with others.
  input::Json crossed = apart;
  crossed["step"]["tasks"][0]["collective"]["groups"] =
      input::Json::parse("[[0,2],[1,3],[4,6],[5,7],[8,10],[9,11],[12,14],[13,15]]");
  crossed["topology"] = {{"mesh", "4x4"}};
  CHECK(time_s(crossed) > 1.5 * time_s(apart));
  const StepPlan of_crossed = plan(crossed);
  CHECK(of_crossed.variants[0].calls[0]->isolated_s == Approx(time_s(crossed)).epsilon(1e-9));
  for (const char* engine : {"direct", "simgrid"}) {
    input::Json json = crossed;
    json["engine"] = engine;
    CHECK(time_s(json) == Approx(time_s(crossed)).epsilon(1e-4));
  }
}

TEST_CASE("a permute takes its bytes at the link rate, plus send and wait overheads") {
  const auto shift = [](const char* pairs) {
    return only({{"name", "shift"},
                 {"permute", {{"pairs", input::Json::parse(pairs)}, {"bytes", "4 MiB"}}}});
  };
  const input::Json ring = shift("[[0,1],[1,2],[2,3],[3,0]]");
  const StepPlan made = plan(ring);
  const hardware::Chip& chip = made.config.machine.chip;
  const double expected_s = chip.collective_startup.value + chip.dma_overhead.value +
                            (4U << 20) / chip.link_rate() + chip.hop_latency.value +
                            chip.wait_overhead.value;
  CHECK(time_s(ring) == Approx(expected_s).epsilon(1e-9));
  CHECK(made.variants[0].permutes[0]->isolated_s == Approx(expected_s).epsilon(1e-9));
  // Chips without a role end at once; the receiver determines the time.
  CHECK(time_s(shift("[[5,6]]")) == Approx(expected_s).epsilon(1e-9));
  // Over two links shared with another message, without a way around.
  const input::Json line =
      testing::changed(shift("[[0,2],[1,3]]"), "/topology", R"({"mesh": "4x4"})");
  CHECK(time_s(line) > 1.5 * expected_s);
  for (const char* engine : {"direct", "simgrid"}) {
    input::Json json = shift("[[0,2],[1,3],[2,0],[7,8]]");
    json["wire_buffers"] = "hbm";
    const double direct_s = time_s(json);
    json["engine"] = engine;
    CHECK(time_s(json) == Approx(direct_s).epsilon(1e-4));
  }
}

TEST_CASE("representatives suffice for a permute to the next chip of a ring") {
  input::Json json = testing::good_step();
  input::Json pairs = input::Json::array();
  for (std::uint32_t chip = 0; chip < 16; ++chip)
    pairs.push_back({chip, chip / 4 * 4 + (chip + 1) % 4});
  json["step"]["groups"] = {{"next", pairs}};
  for (const char* name : {"shift", "again"})
    json["step"]["tasks"].push_back(
        {{"name", name}, {"permute", {{"pairs", "next"}, {"bytes", "4 MiB"}}}});
  // Additional AllReduces over the same ring and over the other axis.
  json["step"]["tasks"].push_back(
      {{"name", "sum"},
       {"collective", {{"kind", "all-reduce"}, {"axes", {"fsdp"}}, {"bytes", "4 MiB"}}}});
  const StepPlan few = plan(json);
  CHECK(few.variants[0].symmetric);
  CHECK(few.variants[0].machine.ranks() == 5);
  CHECK(time_s(changed(json, "/simulation", "full")) == Approx(time_s(json)).epsilon(1e-9));
  // Not if the ring is open, or the shift is longer than one chip: then one chip of each class.
  const StepPlan open = plan(changed(json, "/topology", R"({"mesh": "4x4"})"));
  CHECK(open.variants[0].machine.ranks() == 8);
  CHECK(open.variants[0].reason == "8 of 16 chips simulated: one per class");
  for (input::Json& pair : pairs)
    pair[1] = pair[0].get<int>() / 4 * 4 + (pair[0].get<int>() + 2) % 4;
  json["step"]["groups"]["next"] = pairs;
  CHECK(plan(json).variants[0].reason == "2 of 16 chips simulated: one per class");
  CHECK(time_s(changed(json, "/simulation", "full")) == Approx(time_s(json)).epsilon(1e-9));
}

TEST_CASE("a ring and a torus of one axis share the links of representatives") {
  input::Json json = good_step();
  json["step"]["tasks"].push_back(
      {{"name", "other"},
       {"collective", {{"kind", "all-reduce"}, {"axes", {"data"}}, {"bytes", "1 MiB"}}}});
  json["variants"] = {{{"label", "both"},
                       {"quantize",
                        {{{"where", {{"group", "other"}}}, {"algorithm", "torus"}},
                         {{"where", {{"collective", "all-reduce"}}}, {"algorithm", "ring"}}}}}};
  CHECK(plan(json).variants[0].symmetric);
  CHECK(time_s(changed(json, "/simulation", "full")) == Approx(time_s(json)).epsilon(1e-9));
}

TEST_CASE("task times are of a chip that ends last") {
  input::Json json =
      only({{"name", "shift"}, {"permute", {{"pairs", {{0, 1}}}, {"bytes", "4 MiB"}}}});
  const StepResult result = run_step(plan(json), [](const std::string&) {});
  CHECK(result.runs[0].tasks[0].end_s == Approx(result.runs[0].time_s).epsilon(1e-9));
  CHECK(result.runs[0].groups[0].kind == GroupKind::permute);
  CHECK(result.runs[0].messages == 1);
}

}  // namespace
}  // namespace equarx::step::machine_test
