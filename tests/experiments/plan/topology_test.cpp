#include "experiments/config/topology.hpp"

#include <algorithm>

#include "experiments/config/hardware_json.hpp"
#include "experiments/config/topology_json.hpp"
#include "experiments/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::plan {
namespace {

using testing::changed;
using testing::check_refused;

const std::string kIslands = EQUARX_CONFIGS_DIR "/topologies/two_islands.json";

hardware::Chip chip() { return config::load_chip("tpu-v5e", ""); }

config::TopologyConfig tune::config_of(const std::string& topology) {
  return config::read_topology({input::parse_json(topology), "/topology"}, chip());
}

TEST_CASE("chips of every kind are counted") {
  CHECK(config::count_chips(tune::config_of(R"({"slice": "4x2"})")) == 8);
  CHECK(config::count_chips(tune::config_of(R"({"torus": "4x4x4"})")) == 64);
  CHECK(config::count_chips(tune::config_of(R"({"ring": 5})")) == 5);
  CHECK(config::count_chips(tune::config_of(R"({"fully-connected": 7})")) == 7);
  CHECK(config::count_chips(tune::config_of(R"({"file": ")" + kIslands + R"("})")) == 8);
  CHECK(config::count_chips(tune::config_of(R"({"mesh": "4096x4096"})")) == 1U << 24);  // not built
}

TEST_CASE("every kind is planned with the hardware's speeds") {
  for (const std::string topology :
       {R"({"slice": "4x2"})", R"({"mesh": "3x3"})", R"({"torus": "4x4x4"})", R"({"ring": 5})",
        R"({"fully-connected": 7})"}) {
    CAPTURE(topology);
    const config::TopologyConfig config = tune::config_of(topology);
    const config::PlannedTopology planned = config::plan_topology(config, chip());
    CHECK(planned.graph.chip_count() == config::count_chips(config));
    CHECK(planned.links.size() == planned.graph.link_count());
    CHECK(planned.shape.has_value() == (config.kind != config::TopologyKind::fully_connected));
    CHECK(std::ranges::all_of(planned.links, [](const config::LinkSpeed& link) {
      return link.rate == chip().link_rate() && link.latency_s == chip().hop_latency.value;
    }));
  }
}

TEST_CASE("a graph's own speeds are payload speeds of both directions; others are the hardware's") {
  const config::PlannedTopology planned =
      config::plan_topology(tune::config_of(R"({"file": ")" + kIslands + R"("})"), chip());
  CHECK_FALSE(planned.shape);
  const auto speed = [&](topology::ChipId from, topology::ChipId to) {
    return planned.links.at(planned.graph.find_link(from, to).value());
  };
  CHECK(planned.graph.label(4) == "b0");
  for (const auto& [from, to] : {std::pair{0, 4}, std::pair{4, 0}, std::pair{7, 3}}) {
    CHECK(speed(from, to).rate == 12.5e9);
    CHECK(speed(from, to).latency_s == 5e-6);
  }
  CHECK(speed(1, 0).rate == chip().link_rate());
  CHECK(speed(1, 0).latency_s == chip().hop_latency.value);
}

TEST_CASE("rings are planned around the cables to avoid") {
  const auto ring_of = [](const std::string& topology) {
    const config::TopologyConfig config = tune::config_of(topology);
    return plan_ring(config, config::plan_topology(config, chip()));
  };
  const auto uses = [](const std::vector<topology::ChipId>& ring, topology::ChipId a,
                       topology::ChipId b) {
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const topology::ChipId next = ring[(i + 1) % ring.size()];
      if ((ring[i] == a && next == b) || (ring[i] == b && next == a)) return true;
    }
    return false;
  };
  CHECK(ring_of(R"({"slice": "4x4"})").size() == 16);
  const auto around = ring_of(R"j({"slice": "4x4", "avoid": [["(1,1)", "(1,2)"]]})j");
  CHECK(around.size() == 16);
  CHECK_FALSE(uses(around, 5, 6));
  const auto islands = ring_of(R"({"file": ")" + kIslands + R"(", "avoid": [["a0", "a1"]]})");
  CHECK(islands.size() == 8);
  CHECK_FALSE(uses(islands, 0, 1));
  CHECK(uses(islands, 0, 4));
  CHECK(ring_of(R"({"fully-connected": 2})") == std::vector<topology::ChipId>{0, 1});
}

TEST_CASE("a topology without a ring is refused with the reason and the avoided cables") {
  const auto check = [](const std::string& topology, const std::string& part) {
    const config::TopologyConfig config = tune::config_of(topology);
    const config::PlannedTopology planned = config::plan_topology(config, chip());
    CHECK(search_ring(config, planned).outcome == topology::RingOutcome::none);
    check_refused([&] { plan_ring(config, planned); }, "/topology", part);
  };
  check(R"({"mesh": "3x3"})", "use a slice with an even side, or a torus");
  check(R"j({"mesh": "3x3", "avoid": [["(0,0)", "(0,1)"]]})j",
        "no Hamiltonian ring exists on the mesh 3x3 without the cables (0,0) - (0,1): chip (0,0) "
        "has only 1 usable cable, and a ring needs 2; avoid fewer cables");
  check(R"({"file": ")" + kIslands + R"(", "avoid": [["a0", "b0"]]})",
        "on the graph two-islands without the cables a0 - b0: every way between two parts leads");
  check(R"({"fully-connected": 6, "avoid": [[0,1],[0,2],[0,3],[0,4],[0,5]]})",
        "0 - 1, 0 - 2, 0 - 3, 0 - 4 and 1 more: chip 0 has only 0 usable cables");
}

TEST_CASE("machines that nobody would wait for are refused before they are built") {
  check_refused([] { config::plan_topology(tune::config_of(R"({"mesh": "4096x4096"})"), chip()); },
                "/topology", "has 16777216 chips; at most 131072");
}

TEST_CASE("collectives run on every kind of topology") {
  for (const std::string& topology :
       {std::string(R"({"fully-connected": 6})"),
        std::string(R"j({"torus": "4x4", "avoid": [["(0,0)", "(0,1)"], ["(2,2)", "(3,2)"]]})j"),
        R"({"file": ")" + kIslands + R"("})"}) {
    CAPTURE(topology);
    const run::ExperimentResult result = testing::run(changed("/topology", topology));
    for (const run::RunResult& run : result.runs) {
      CHECK(run.time_s > run.lower_bound_s);
      CHECK(run.numerics->ranks_identical);
    }
  }
}

TEST_CASE("slow cables make a collective slow") {
  const auto time_of = [](const std::string& pointer, const std::string& text) {
    return testing::run(changed(pointer, text)).runs.front().time_s;
  };
  CHECK(time_of("/topology/file", kIslands) > 2.0 * time_of("/topology/fully-connected", "8"));
}

TEST_CASE("topologies have short names") {
  CHECK(config::topology_text(tune::config_of(R"({"slice": "4x2"})")) == "slice 4x2");
  CHECK(config::topology_text(tune::config_of(R"({"fully-connected": 2})")) == "fully connected");
  CHECK(config::topology_text(tune::config_of(R"({"file": ")" + kIslands + R"("})")) ==
        "graph two-islands");
}

}  // namespace
}  // namespace equarx::plan
