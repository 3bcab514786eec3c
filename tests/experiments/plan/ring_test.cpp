#include "experiments/plan/ring.hpp"

#include "base/input/json.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/topology_json.hpp"
#include "tests/catch.hpp"
#include "tests/support/mistakes.hpp"

namespace equarx::plan::ring_test {
namespace {

using testing::check_mistakes;

const std::string kIslands = EQUARX_CONFIGS_DIR "/topologies/two_islands.json";

hardware::Chip chip() { return config::load_chip("tpu-v5e", ""); }

config::TopologyConfig config_of(const std::string& topology) {
  return config::read_topology({input::parse_json(topology), "/topology"}, chip());
}

TEST_CASE("rings avoid the excluded links") {
  const auto ring_of = [](const std::string& topology) {
    const config::TopologyConfig config = config_of(topology);
    return value_or_throw(plan_ring(config, config::plan_topology(config, chip())));
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

TEST_CASE("a topology without a ring is refused with the reason and the avoided links") {
  const auto check = [](const std::string& topology, const std::string& part) {
    const config::TopologyConfig config = config_of(topology);
    const config::PlannedTopology planned = config::plan_topology(config, chip());
    CHECK(search_ring(config, planned).outcome == topology::RingOutcome::none);
    const auto ring = plan_ring(config, planned);
    REQUIRE_FALSE(ring);
    CHECK(ring.error().pointer == "/topology");
    CHECK_THAT(ring.error().reason, ContainsSubstring(part));
  };
  check(R"({"mesh": "3x3"})", "use a slice with an even side, or a torus");
  check(R"j({"mesh": "3x3", "avoid": [["(0,0)", "(0,1)"]]})j",
        "no Hamiltonian ring exists on the mesh 3x3 without the links (0,0) - (0,1): chip (0,0) "
        "has only 1 usable link, and a ring needs 2; avoid fewer links");
  check(R"({"file": ")" + kIslands + R"(", "avoid": [["a0", "b0"]]})",
        "on the graph two-islands without the links a0 - b0: every path between two parts leads");
  check(R"({"fully-connected": 6, "avoid": [[0,1],[0,2],[0,3],[0,4],[0,5]]})",
        "0 - 1, 0 - 2, 0 - 3, 0 - 4 and 1 more: chip 0 has only 0 usable links");
}

TEST_CASE("a machine without a ring is refused with alternatives") {
  check_mistakes(
      {{"/topology/mesh", "3x3", "/topology", "use a slice with an even side, or a torus"},
       {"/topology/mesh", "5x3x3", "/topology", "or a torus"},
       {"/topology/mesh", "\"4\"", "/topology", "a wrapped axis"},
       {"/topology/mesh", "1x4", "/topology", "a wrapped axis"},
       {"/topology", R"({"torus": "3x3", "wraparound": [false, false]})", "/topology",
        "or a torus"}});
}

TEST_CASE("a ring made impossible by avoided links is refused with the links") {
  check_mistakes(
      {{"/topology/avoid", R"j([["(0,0)", "(0,1)"]])j", "/topology",
        "no Hamiltonian ring exists on the slice 4x2 without the links (0,0) - (0,1): chip "
        "(0,0) has only 1 usable link, and a ring needs 2; avoid fewer links"},
       {"/topology", R"({"fully-connected": 3, "avoid": [[0, 1], [1, 2], [2, 0]]})", "/topology",
        "without the links 0 - 1, 1 - 2, 2 - 0: chip 0 has only 0 usable"}});
}

}  // namespace
}  // namespace equarx::plan::ring_test
