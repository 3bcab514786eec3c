#include "experiments/config_parts.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/configs.hpp"

namespace equarx::experiments {
namespace {

using testing::changed;

TEST_CASE("each kind of topology has its own wraparound") {
  const auto shape = [](const std::string& topology) {
    return read_config(changed("/topology", topology)).topology;
  };
  CHECK(shape(R"({"slice": "8x16"})").shape.wraparound == std::vector<bool>{false, true});
  CHECK(shape(R"({"slice": "16x16"})").shape.wraparound == std::vector<bool>{true, true});
  CHECK(shape(R"({"mesh": "16x16"})").shape.wraparound == std::vector<bool>{false, false});
  CHECK(shape(R"({"torus": "3x3x3"})").shape.wraparound == std::vector<bool>{true, true, true});
  CHECK(shape(R"({"torus": "4x4", "wraparound": [false, true]})").shape.wraparound ==
        std::vector<bool>{false, true});
  const TopologyConfig ring = shape(R"({"ring": 5})");
  CHECK(ring.kind == TopologyKind::ring);
  CHECK(ring.shape.lengths == std::vector<std::uint32_t>{5});
  CHECK(ring.shape.wraparound == std::vector<bool>{true});
}

TEST_CASE("chips that are fully connected, and graphs from files") {
  const TopologyConfig all = read_config(changed("/topology/fully-connected", "8")).topology;
  CHECK(all.kind == TopologyKind::fully_connected);
  CHECK(all.chips == 8);
  CHECK(topology_json(all) == Json({{"fully-connected", 8}}));
  const std::string path = EQUARX_CONFIGS_DIR "/topologies/two_islands.json";
  const TopologyConfig graph = read_config(changed("/topology/file", path)).topology;
  CHECK(graph.kind == TopologyKind::file);
  CHECK(graph.graph.chips.size() == 8);
  CHECK(topology_json(graph) == Json({{"file", path}}));
}

TEST_CASE("cables to avoid are kept by name and number, with every kind") {
  const auto avoided = [](const std::string& topology) {
    const TopologyConfig config = read_config(changed("/topology", topology)).topology;
    REQUIRE(config.avoid.size() == 1);
    const AvoidedCable& cable = config.avoid.front();
    CHECK(topology_json(config)["avoid"] == Json::array({{cable.first, cable.second}}));
    return std::pair(cable.cable.first, cable.cable.second);
  };
  using Pair = std::pair<topology::ChipId, topology::ChipId>;
  CHECK(avoided(R"j({"slice": "4x2", "avoid": [["(1,0)", "(0,0)"]]})j") == Pair(2, 0));
  CHECK(avoided(R"j({"mesh": "4x2", "avoid": [["(1,0)", "(1,1)"]]})j") == Pair(2, 3));
  CHECK(avoided(R"j({"torus": "4x2", "avoid": [["(0,0)", "(3,0)"]]})j") == Pair(0, 6));
  CHECK(avoided(R"j({"ring": 5, "avoid": [["(0)", "(4)"]]})j") == Pair(0, 4));
  CHECK(avoided(R"({"fully-connected": 5, "avoid": [[0, "4"]]})") == Pair(0, 4));
  CHECK(avoided(R"({"file": ")" EQUARX_CONFIGS_DIR R"(/topologies/two_islands.json",
                    "avoid": [["a0", "b0"]]})") == Pair(0, 4));
}

}  // namespace
}  // namespace equarx::experiments
