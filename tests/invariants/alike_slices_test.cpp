// One slice that stands for all alike ones: results against the simulation of every slice.
#include <algorithm>
#include <string>
#include <vector>

#include "base/input/json.hpp"
#include "base/process/host_memory.hpp"
#include "experiments/result/json.hpp"
#include "sim/classes.hpp"
#include "tests/catch.hpp"
#include "tests/invariants/machine_cases.hpp"
#include "tests/support/configs.hpp"

namespace equarx::testing::alike_slices_test {
namespace {

using plan::RunProfile;

/// Collectives over slices, times only.
input::Json over_slices(const input::Json& topology, std::uint32_t slices, std::uint32_t per_port,
                        const std::string& collective) {
  input::Json json = {
      {"hardware", "tpu-v5e"},    {"topology", topology}, {"tensor", {{"bytes", "768 KiB"}}},
      {"collective", collective}, {"engine", "direct"},   {"numerics", "off"}};
  json["topology"]["network"] = {{"slices", slices},
                                 {"bandwidth", "12.5 GB/s"},
                                 {"latency", "10 us"},
                                 {"chips_per_port", per_port}};
  return json;
}

/// Slices that the machine of the first collective stands for.
std::uint32_t slices_of(const input::Json& json, RunProfile profile = RunProfile::batch) {
  return plan::make_plan(config::read_config(json), profile)
      .collectives.front()
      .candidates.front()
      .simulated.slices;
}

run::ExperimentResult result_of(const input::Json& json, RunProfile profile) {
  return run::run_experiment(plan::make_plan(config::read_config(json), profile),
                             [](const std::string&) {});
}

/// Means over chips are sums in another order.
constexpr double kOrder = 1e-11;

void require_same(const input::Json& one, const input::Json& other, const std::string& place) {
  CAPTURE(place, one.dump().substr(0, 200), other.dump().substr(0, 200));
  REQUIRE(one.type() == other.type());
  if (one.is_number_float()) {
    REQUIRE(one.get<double>() == Approx(other.get<double>()).epsilon(kOrder));
  } else if (!one.is_structured()) {
    REQUIRE(one == other);
  } else {
    REQUIRE(one.size() == other.size());
    for (auto at = one.begin(), with = other.begin(); at != one.end(); ++at, ++with)
      require_same(*at, *with, one.is_object() ? place + '/' + at.key() : place);
  }
}

TEST_CASE("one slice has the results of all, whatever the algorithm and the machine") {
  const std::vector<input::Json> topologies = {
      {{"slice", "4x2"}}, {{"mesh", "3x2"}}, {{"torus", "3x3"}}, {{"fully-connected", 4}}};
  std::size_t folded = 0;
  for (const input::Json& topology : topologies)
    for (const std::uint32_t slices : {2U, 3U, 4U})
      for (const std::string collective :
           {"all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast"}) {
        const std::uint32_t per_port = topology.contains("torus") ? 3 : slices == 3 ? 1 : 2;
        input::Json json = over_slices(topology, slices, per_port, collective);
        CAPTURE(json.dump());
        for (const std::string format : {"bf16", "int8"}) add_algorithms(json, format);
        for (std::size_t i = 0; i < json["collectives"].size(); ++i)
          json["collectives"][i]["label"] = std::to_string(i);
        const run::ExperimentResult of_one = result_of(json, RunProfile::batch);
        const run::ExperimentResult of_all = result_of(json, RunProfile::traced);
        for (std::size_t i = 0; i < of_one.runs.size(); ++i)
          if (of_one.runs[i].simulation_reason.ends_with("one slice")) ++folded;
        input::Json one = result::to_json(of_one, {.links = true});
        input::Json all = result::to_json(of_all, {.links = true});
        // How it was simulated differs.
        for (input::Json* const json_of : {&one, &all})
          for (input::Json& run : (*json_of)["runs"]) {
            run.erase("simulation");
            run.erase("simulation_reason");
            run.erase("engine_reason");
          }
        require_same(one, all, "");
      }
  CHECK(folded > 0);  // without classes, too
}

TEST_CASE("the chips of one slice have the classes of all") {
  for (const std::string algorithm : {"hierarchical", "two-shot", "direct"}) {
    const bool moves = algorithm == "direct";
    input::Json json = over_slices({{"slice", "4x4"}}, 4, 4, moves ? "all-to-all" : "all-reduce");
    json["collectives"] = {{{"algorithm", algorithm}}};
    const auto machine_of = [&](RunProfile profile) {
      return plan::make_plan(config::read_config(json), profile)
          .collectives.front()
          .candidates.front()
          .simulated.shared;
    };
    const auto one = machine_of(RunProfile::batch);
    const auto all = machine_of(RunProfile::traced);
    CAPTURE(algorithm);
    REQUIRE(one->ranks() == 16);
    REQUIRE(all->ranks() == 64);
    const auto classes_of = [](const sim::Machine& machine) {
      return sim::chip_classes(machine, std::vector<std::uint32_t>(machine.ranks()));
    };
    const sim::ChipClasses of_one = classes_of(*one);
    const sim::ChipClasses of_all = classes_of(*all);
    REQUIRE(of_one.firsts == of_all.firsts);
    for (std::size_t i = 0; i < of_one.sizes.size(); ++i)
      CHECK(of_all.sizes[i] == 4 * of_one.sizes[i]);
    const sim::ClassMachine few = sim::class_machine(*one, of_one);
    const sim::ClassMachine expected = sim::class_machine(*all, of_all);
    CHECK(few.obstacle == expected.obstacle);
    REQUIRE(few.machine.links.size() == expected.machine.links.size());
    for (std::size_t i = 0; i < few.machine.links.size(); ++i) {  // of any of the slices, by name
      CHECK(few.machine.links[i].rate == expected.machine.links[i].rate);
      CHECK(few.machine.links[i].latency == expected.machine.links[i].latency);
      CHECK(few.machine.links[i].users == expected.machine.links[i].users);
    }
    REQUIRE(few.machine.ranks() == expected.machine.ranks());
    for (std::uint32_t chip = 0; chip < few.machine.ranks(); ++chip)
      for (std::size_t i = 0; i < few.machine.out_ports[chip].size(); ++i) {
        const sim::OutPort& port = few.machine.out_ports[chip][i];
        const sim::OutPort& same = expected.machine.out_ports[chip][i];
        REQUIRE(port.peer == same.peer);
        REQUIRE(port.lane == same.lane);
        REQUIRE(port.route == same.route);
      }
  }
}

TEST_CASE("slices that differ, or whose chips are looked at, are simulated one by one") {
  input::Json json = over_slices({{"slice", "4x2"}}, 4, 2, "all-reduce");
  json["collectives"] = {{{"algorithm", "hierarchical"}}};
  CHECK(slices_of(json) == 4);
  CHECK(slices_of(json, RunProfile::traced) == 1);
  CHECK(slices_of(changed(json, "/simulation", "full")) == 1);
  CHECK(slices_of(changed(json, "/wire_buffers", "hbm")) == 1);
  input::Json faulty = json;
  faulty["faults"]["chips"] = {{{"chip", "1:(0,0)"}, {"slowdown", 2}}};
  CHECK(slices_of(faulty) == 1);
  json["engine"] = "auto";
  CHECK(slices_of(json) == 4);
  CHECK(slices_of(json, RunProfile::single) == 1);  // SimGrid is quick here
  json["tensor"]["bytes"] = "1 GiB";
  json["topology"]["network"]["slices"] = 64;
  CHECK(slices_of(json, RunProfile::single) == 64);
  json["engine"] = "simgrid";
  CHECK(slices_of(json, RunProfile::single) == 1);
  json["engine"] = "direct";
  json["collective"] = "broadcast";
  json["collectives"] = {{{"algorithm", "auto"}}};
  json["topology"]["network"]["slices"] = 2;
  CHECK(slices_of(json) == 1);
}

TEST_CASE("many slices need the memory of one, unless every chip is shown") {
  input::Json json = over_slices({{"slice", "16x16"}}, 512, 4, "all-reduce");
  json["collectives"] = {{{"algorithm", "hierarchical"}}};
  CHECK(slices_of(json) == 512);
  constexpr double kNeeded = 6e10;  // bytes for all chips, which a large computer has
  if (process::available_memory_bytes() > kNeeded) return;
  CHECK_THROWS_AS(slices_of(json, RunProfile::traced), input::InputError);
  json["simulation"] = "full";
  CHECK_THROWS_AS(slices_of(json), input::InputError);
}

TEST_CASE("one slice takes the time of all on another machine") {
  input::Json json = over_slices({{"slice", "4x2"}}, 3, 2, "all-reduce");
  json["collectives"] = {{{"algorithm", "hierarchical"}}};
  json["uncertainty"] = {{"samples", 10}};
  const run::ExperimentResult one = result_of(json, RunProfile::batch);
  const run::ExperimentResult all = result_of(json, RunProfile::traced);
  require_same(result::to_json(one)["runs"][0]["uncertainty"],
               result::to_json(all)["runs"][0]["uncertainty"], "");
}

}  // namespace
}  // namespace equarx::testing::alike_slices_test
