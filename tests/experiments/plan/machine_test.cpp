// Representative chips give the same times as all chips.
#include "experiments/plan/machine.hpp"

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "experiments/config/set_value.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::plan::machine_test {
namespace {

using testing::changed;
using testing::check_refused;
using testing::plan_of;
using testing::run;

input::Json tori(const std::string& hardware, const std::string& kind, const std::string& lengths,
                 const std::string& bytes) {
  return {{"hardware", hardware},
          {"topology", {{kind, lengths}}},
          {"tensor", {{"bytes", bytes}}},
          {"collectives",
           {{{"algorithm", "torus"}},
            {{"algorithm", "torus"}, {"format", "int8"}},
            {{"label", "semi-loop"}, {"algorithm", "torus"}, {"ring", "semi-loop"}}}},
          {"numerics", "off"}};
}

TEST_CASE("representative chips have the timing of all chips of a torus") {
  const std::vector<std::vector<std::string>> machines = {
      {"tpu-v4", "slice", "4x4x4", "1 MiB"},   {"tpu-v5e", "slice", "16x16", "256 KiB"},
      {"tpu-v5p", "slice", "4x4x4", "1 MiB"},  {"tpu-v5e", "torus", "5x3", "100 kB"},
      {"tpu-v5e", "torus", "2x2x3", "100 kB"}, {"tpu-v5e", "torus", "1x6", "100 kB"},
      {"tpu-v7", "slice", "2x2x1", "100 kB"}};
  for (const auto& machine : machines) {
    CAPTURE(machine);
    input::Json json = tori(machine[0], machine[1], machine[2], machine[3]);
    const run::ExperimentResult symmetric = run(json);
    json["simulation"] = "full";
    const run::ExperimentResult full = run(json);
    for (std::size_t i = 0; i < full.runs.size(); ++i) {
      CAPTURE(full.runs[i].label);
      CHECK(symmetric.runs[i].symmetric);
      CHECK_FALSE(full.runs[i].symmetric);
      CHECK(symmetric.runs[i].time_s == Approx(full.runs[i].time_s).epsilon(1e-9));
      CHECK(symmetric.runs[i].lower_bound_s == Approx(full.runs[i].lower_bound_s).epsilon(1e-12));
      CHECK(symmetric.runs[i].wire_bytes_per_link == full.runs[i].wire_bytes_per_link);
      CHECK(symmetric.runs[i].chips == full.runs[i].chips);
      CHECK(symmetric.runs[i].messages < full.runs[i].messages);
      for (const run::LinkUse& link : symmetric.runs[i].links) {
        CHECK(link.from.empty());
        CHECK(link.bytes <= full.runs[i].wire_bytes_per_link);
      }
    }
  }
}

TEST_CASE("a large AllReduce on a torus comes within 5 % of saturating all links") {
  for (const auto& [hardware, lengths, axes] :
       std::vector<std::tuple<std::string, std::string, double>>{
           {"tpu-v5e", "16x16", 2.0}, {"tpu-v4", "4x4x4", 3.0}, {"tpu-v5p", "8x8x8", 3.0}}) {
    CAPTURE(hardware, lengths);
    input::Json json = tori(hardware, "slice", lengths, "256 MiB");
    const Plan plan = plan_of(json);
    const run::RunResult one = run(json).runs[0];
    const double directions = 2.0 * axes;
    const double bound = 2.0 * static_cast<double>(plan.config.tensor.bytes()) *
                         (1.0 - 1.0 / one.chips) / (directions * plan.config.chip.link_rate());
    CHECK(one.time_s >= bound * (1.0 - 1e-9));
    CHECK(one.time_s <= 1.05 * bound);
  }
}

TEST_CASE("a pod is planned without enumerating its chips") {
  const Plan plan = plan_of(tori("tpu-v7", "torus", "16x16x36", "32 MiB"));
  for (const PlannedCollective& planned : plan.collectives) {
    CHECK(planned.candidates.front().program.ranks() == 9216);
    CHECK(planned.candidates.front().simulated.machine().ranks() <= 7);
  }
}

TEST_CASE("a ring along an axis without wraparound is folded, and simulated in full") {
  const Plan plan = plan_of(tori("tpu-v5e", "slice", "4x4", "1 MiB"));
  const SimulatedMachine& simulated = plan.collectives[0].candidates.front().simulated;
  CHECK_FALSE(simulated.symmetric);
  std::size_t longest = 0;
  for (const auto& out_ports : simulated.machine().out_ports)
    for (const sim::OutPort& port : out_ports) longest = std::max(longest, port.route.size());
  CHECK(longest == 2);
}

TEST_CASE("links shared by several pairs of chips do not reach their rate") {
  input::Json json = testing::good_config();
  json["topology"] = {{"mesh", "4"}};
  json["collectives"] = {{{"label", "folded"}, {"algorithm", "torus"}},
                         {{"label", "direct"}, {"algorithm", "two-shot"}}};
  json["baseline"] = "folded";
  config::ExperimentConfig config = config::read_config(json);
  config.chip.shared_link_efficiency.value = 0.75;
  const plan::Plan plan = make_plan(config);
  for (const PlannedCollective& collective : plan.collectives) {
    const sim::Machine& machine = collective.candidates.front().simulated.machine();
    REQUIRE(sim::shares_links(machine));
    for (const sim::LinkSpec& link : machine.links)
      CHECK(link.rate == Approx(0.75 * config.chip.link_rate()));
  }
}

TEST_CASE("collectives of the same wiring share their machine and its classes") {
  input::Json json = testing::good_config();
  json["topology"] = {
      {"torus", "4x4"},
      {"network",
       {{"slices", 2}, {"bandwidth", "7 GB/s"}, {"latency", "4 us"}, {"chips_per_port", 4}}}};
  json["collectives"] = {
      {{"label", "plain"}, {"algorithm", "hierarchical"}},
      {{"label", "quantized"}, {"algorithm", "hierarchical"}, {"between", {{"format", "int8"}}}},
      {{"label", "other"}, {"algorithm", "two-shot"}}};
  json["baseline"] = "plain";
  json["engine"] = "direct";
  const Plan plan = plan_of(json);
  const auto simulated = [&](std::size_t collective) -> const SimulatedMachine& {
    return plan.collectives[collective].candidates.front().simulated;
  };
  CHECK(simulated(0).shared == simulated(1).shared);
  REQUIRE(simulated(0).by_class != nullptr);
  CHECK(simulated(0).by_class == simulated(1).by_class);
  CHECK(simulated(0).shared != simulated(2).shared);
}

TEST_CASE("a message to another slice crosses two network ports only") {
  input::Json json = testing::good_config();
  json["topology"] = {
      {"mesh", "2x2"},
      {"network",
       {{"slices", 2}, {"bandwidth", "7 GB/s"}, {"latency", "4 us"}, {"chips_per_port", 2}}}};
  json["collectives"] = {{{"algorithm", "hierarchical"}}};
  json.erase("baseline");
  const Plan plan = plan_of(json);
  const CollectivePlan& collective = plan.collectives.front().candidates.front();
  const sim::Machine& machine = collective.simulated.machine();
  CHECK_FALSE(collective.simulated.symmetric);
  REQUIRE(machine.ranks() == 8);
  constexpr sim::LinkIndex kCables = 2 * 2 * 4;      // two directions, two slices of four links
  REQUIRE(machine.links.size() == kCables + 2 * 4);  // four ports
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank)
    for (const sim::OutPort& port : machine.out_ports[rank]) {
      if (rank / 4 == port.peer / 4) {
        for (const sim::LinkIndex link : port.route) CHECK(link / (kCables / 2) == rank / 4);
        continue;
      }
      CHECK(port.peer % 4 == rank % 4);
      REQUIRE(port.route.size() == 2);
      CHECK(machine.links[port.route[0]].to == "network");
      CHECK(machine.links[port.route[1]].from == "network");
      CHECK(port.route[0] == kCables + 2 * (rank / 2));
      CHECK(port.route[1] == kCables + 2 * (port.peer / 2) + 1);
      CHECK(sim::latency_s(machine, port.route) == Approx(4e-6));
      // Shared ports keep their rate; shared links do not.
      CHECK(sim::bottleneck_rate(machine, port.route) == 7e9);
    }
}

TEST_CASE("dedicated links keep their rate") {
  config::ExperimentConfig config = config::read_config(testing::good_config());
  config.chip.shared_link_efficiency.value = 0.75;
  config.simulation = config::SimulationMode::full;
  const plan::Plan plan = make_plan(config);
  for (const sim::LinkSpec& link :
       plan.collectives.front().candidates.front().simulated.machine().links)
    CHECK(link.rate == config.chip.link_rate());
}

TEST_CASE("chips that exceed the memory are refused before they are created") {
  input::Json json = tori("tpu-v4", "torus", "48x48x48", "1 MiB");
  CHECK_NOTHROW(plan_of(json));
  json["simulation"] = "full";
  json["engine"] = "simgrid";
  check_refused([&] { plan_of(json); }, "/simulation", "use the direct engine, fewer chips");
  json["engine"] = "direct";
  json["topology"] = {{"torus", "256x256x256"}};
  check_refused([&] { plan_of(json); }, "/simulation", "simulating all 16777216 chips needs");
  check_refused([&] { plan_of(json); }, "/simulation", "which is enough for about ");
  json["topology"] = {{"torus", "4096x4096"}};
  json["simulation"] = "auto";
  CHECK_NOTHROW(plan_of(json));
  json["collectives"] = {{{"algorithm", "recursive-doubling"}}};
  check_refused([&] { plan_of(json); }, "/simulation", "this computer has");
}

TEST_CASE("a fault changes both directions of a link, and no other link") {
  const Plan plan = plan_of(changed("/faults", R"j({"links": [
      {"between": ["(0,1)", "(0,0)"], "bandwidth_factor": 0.5, "extra_latency": "1 us"}]})j"));
  const hardware::Chip& chip = plan.config.chip;
  std::size_t changed = 0;
  for (const sim::LinkSpec& link : plan.collectives[0].candidates[0].simulated.machine().links) {
    const bool faulty = link.name == "(0,0)->(0,1)" || link.name == "(0,1)->(0,0)";
    CAPTURE(link.name);
    CHECK(link.rate == chip.link_rate() * (faulty ? 0.5 : 1.0));
    CHECK(link.latency == chip.hop_latency.value + (faulty ? 1e-6 : 0.0));
    changed += faulty ? 1 : 0;
  }
  CHECK(changed == 2);
}

TEST_CASE("an impractically large machine is refused before it is built") {
  input::Json json = changed("/topology", R"({"mesh": "4096x4096"})");
  json["simulation"] = "full";
  check_refused([&] { plan_of(json); }, "/simulation", "simulating all 16777216 chips needs");
}

TEST_CASE("a uniform ring is simulated by three representative chips in any mode") {
  for (const std::string mode : {"auto", "symmetric"})
    for (const PlannedCollective& planned : plan_of(changed("/simulation", mode)).collectives) {
      CHECK(planned.candidates.front().simulated.symmetric);
      CHECK(planned.candidates.front().simulated.machine().ranks() == 3);
    }
}

TEST_CASE("symmetric simulation is refused before the run if impossible") {
  const std::string remedy = "use \"auto\" or \"full\"";
  const auto refuse = [&](const std::string& pointer, const std::string& value,
                          const std::string& reason) {
    input::Json json = changed(pointer, value);
    json["simulation"] = "symmetric";
    check_refused([&] { plan_of(json); }, "/simulation", reason);
    check_refused([&] { plan_of(json); }, "/simulation", remedy);
  };
  refuse("/collectives/0", R"({"label": "bf16", "algorithm": "one-shot"})",
         "messages cross more than one link");
  refuse("/collectives/0", R"({"label": "bf16", "algorithm": "torus"})",
         "messages cross more than one link");  // 4 chips without wraparound
  refuse("/faults", R"j({"links": [{"between": ["(0,0)", "(0,1)"], "bandwidth_factor": 0.5}]})j",
         "its links differ");
  refuse("/faults", R"j({"links": [{"between": ["(0,0)", "(0,1)"], "fails_at": "1 s"}]})j",
         "links fail");
  refuse("/faults", R"j({"chips": [{"chip": "(0,0)", "slowdown": 2}]})j",
         "its chips differ in speed");
  refuse("/topology/file", EQUARX_CONFIGS_DIR "/topologies/two_islands.json", "its links differ");
  input::Json json = changed("/collective", "broadcast");
  config::override_value(json, "/collectives", R"([{"algorithm": "ring"}])");
  json.erase("baseline");
  json["simulation"] = "symmetric";
  check_refused([&] { plan_of(json); }, "/simulation", "its chips run different instructions");
}

}  // namespace
}  // namespace equarx::plan::machine_test
