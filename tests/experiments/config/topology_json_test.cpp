#include "experiments/config/topology_json.hpp"

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/mistakes.hpp"

namespace equarx::config::topology_json_test {
namespace {

using testing::changed;
using testing::check_mistakes;

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

/// The shape of a slice of a chip.
topology::GridShape slice_of(const std::string& chip, const std::string& slice) {
  input::Json json = changed("/topology/slice", slice);
  json["hardware"] = chip;
  return read_config(json).topology.shape;
}

TEST_CASE("slices of each generation wrap around as offered") {
  using Wraparound = std::vector<bool>;
  CHECK(slice_of("tpu-v5e", "16x16").wraparound == Wraparound{true, true});
  CHECK(slice_of("tpu-v6e", "16x16").wraparound == Wraparound{true, true});
  CHECK(slice_of("tpu-v6e", "16x8").wraparound == Wraparound{true, false});
  CHECK(slice_of("tpu-v6e", "4x4").wraparound == Wraparound{false, false});
  for (const std::string chip : {"tpu-v4", "tpu-v5p", "tpu-v7"}) {
    CHECK(slice_of(chip, "4x4x4").wraparound == Wraparound{true, true, true});
    CHECK(slice_of(chip, "12x4x8").wraparound == Wraparound{true, true, true});
    CHECK(slice_of(chip, "2x2x1").wraparound == Wraparound{false, false, false});
    CHECK(slice_of(chip, "4x2x4").wraparound == Wraparound{false, false, false});
  }
  CHECK(slice_of("tpu-v4", "16x16x16").lengths == std::vector<std::uint32_t>{16, 16, 16});
  CHECK(slice_of("tpu-v5p", "16x16x24").lengths == std::vector<std::uint32_t>{16, 16, 24});
  CHECK(slice_of("tpu-v7", "16x16x36").lengths == std::vector<std::uint32_t>{16, 16, 36});
}

TEST_CASE("an unavailable slice is refused with the available and the closest ones") {
  using testing::check_refused;
  const std::string place = "/topology/slice";
  check_refused([] { slice_of("tpu-v5p", "4x4x5"); }, place,
                "tpu-v5p has no slice 4x4x5; its slices are 2x2x1, 2x2x2, 2x2x4, 2x4x4, and whole "
                "4x4x4 cubes up to 6144 chips (axes in any order); nearest: 4x4x4, 2x4x4, 4x4x8; "
                "use \"mesh\" or \"torus\"");
  check_refused([] { slice_of("tpu-v4", "16x16x20"); }, place, "nearest: 16x16x16");
  check_refused([] { slice_of("tpu-v7", "16x16x40"); }, place, "nearest: 16x16x36");
  check_refused([] { slice_of("tpu-v5p", "4x4"); }, place, "nearest: 2x4x4");
  check_refused([] { slice_of("tpu-v5e", "4x4x4"); }, place, "8x16, 16x16 (axes in any order); ");
  check_refused([] { slice_of("tpu-v6e", "32x32"); }, place, "nearest: 16x16, 8x16, 8x8");
}

TEST_CASE("a chip without slices is reported as such") {
  input::Json chip = testing::tpu_v5e();
  chip["slices"]["list"] = input::Json::array();
  const testing::TemporaryFile file(chip.dump());
  testing::check_refused([&] { slice_of(file.path(), "4x2"); }, "/topology/slice",
                         "its slices are none (axes in any order); use \"mesh\"");
}

TEST_CASE("chips that are fully connected, and graphs from files") {
  const TopologyConfig all = read_config(changed("/topology/fully-connected", "8")).topology;
  CHECK(all.kind == TopologyKind::fully_connected);
  CHECK(all.chips == 8);
  CHECK(topology_json(all) == input::Json({{"fully-connected", 8}}));
  const std::string path = EQUARX_CONFIGS_DIR "/topologies/two_islands.json";
  const TopologyConfig graph = read_config(changed("/topology/file", path)).topology;
  CHECK(graph.kind == TopologyKind::file);
  CHECK(graph.graph.chips.size() == 8);
  CHECK(topology_json(graph) == input::Json({{"file", path}}));
}

TEST_CASE("links to avoid are stored by name and number, for every kind") {
  const auto avoided = [](const std::string& topology) {
    const TopologyConfig config = read_config(changed("/topology", topology)).topology;
    REQUIRE(config.avoid.size() == 1);
    const AvoidedCable& cable = config.avoid.front();
    CHECK(topology_json(config)["avoid"] == input::Json::array({{cable.first, cable.second}}));
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

TEST_CASE("a slice that is not offered is refused with the offered ones") {
  check_mistakes({{"/topology/slice", "3x3", "/topology/slice", "2x2, 2x4, 4x4, 4x8"},
                  {"/topology/slice", "2x8", "/topology/slice", "use \"mesh\" or \"torus\""},
                  {"/topology/slice", "4x4x4", "/topology/slice", "axes in any order"},
                  {"/topology/slice", "\"8\"", "/topology/slice", "axes in any order"}});
}

TEST_CASE("links to avoid must exist") {
  check_mistakes(
      {{"/topology/avoid", R"j([["(0,0)", "(9,9)"]])j", "/topology/avoid/0/1",
        "there is no chip '(9,9)'; its 8 chips are '(0,0)' to '"},
       {"/topology/avoid", R"j([["(0,0)", "(0,1)"], ["(0,0)", "(2,0)"]])j", "/topology/avoid/1",
        "no link joins (0,0) and (2,0); (0,0) is joined to (0,1), (1,0)"},
       {"/topology/avoid", R"j([["(0,0)", "(0,0)"]])j", "/topology/avoid/0", "no link joins"},
       {"/topology", R"({"fully-connected": 9, "avoid": [[0, 9]]})", "/topology/avoid/0/1",
        "there is no chip '9'"},
       {"/topology", R"({"mesh": "4096x4096", "avoid": []})", "/topology", "at most 131072"}});
}

TEST_CASE("a single chip has no links") {
  check_mistakes({{"/topology/slice", "1x1", "/topology", "at least two chips"},
                  {"/topology/ring", "1", "/topology", "at least two chips"},
                  {"/topology/torus", "1x1x1", "/topology", "at least two chips"}});
}

TEST_CASE("wraparound is set for each axis of a torus only") {
  check_mistakes({{"/topology", R"({"torus": "4x4", "wraparound": [true]})", "/topology/wraparound",
                   "each of the 2 axes"},
                  {"/topology", R"({"torus": "4x4", "wraparound": []})", "/topology/wraparound",
                   "each of the 2 axes"},
                  {"/topology", R"({"mesh": "4x4", "wraparound": [true, true]})",
                   "/topology/wraparound", "unknown key"}});
}

TEST_CASE("a network joins slices and survives a round trip") {
  const std::string text = R"({"slice": "4x2", "network": {"slices": 3, "bandwidth": "12.5 GB/s",
                               "latency": "10 us", "chips_per_port": 4}})";
  const TopologyConfig topology = read_config(changed("/topology", text)).topology;
  REQUIRE(topology.network);
  CHECK(topology.network->slices == 3);
  CHECK(topology.network->bandwidth.value == 12.5e9);
  CHECK(topology.network->latency.value == Approx(10e-6));
  CHECK(topology.network->chips_per_port == 4);
  const input::Json json = topology_json(topology);
  CHECK(json["slice"] == "4x2");
  CHECK(json["network"] == input::Json({{"slices", 3},
                                        {"bandwidth", "12.5 GB/s"},
                                        {"latency", "10 us"},
                                        {"chips_per_port", 4}}));
}

TEST_CASE("parameters of a network may have an uncertainty") {
  const std::string text = R"({"slice": "4x2", "network": {"slices": 2, "latency": "10 us",
    "bandwidth": {"value": "10 GB/s", "range": ["8 GB/s", "12 GB/s"], "class": "measured",
                  "source": "a test"}}})";
  const TopologyConfig topology = read_config(changed("/topology", text)).topology;
  CHECK(topology.network->bandwidth.range == hardware::ParameterRange{8e9, 12e9});
  CHECK_FALSE(topology.network->latency.range);
  const input::Json json = topology_json(topology);
  CHECK(json["network"]["bandwidth"] == input::parse_json(text)["network"]["bandwidth"]);
  CHECK(json["network"]["latency"] == "10 us");
}

TEST_CASE("an impossible network is refused with the remedy") {
  const auto with = [](const std::string& network, const std::string& kind = R"("slice": "4x2")") {
    return "{" + kind + R"(, "network": )" + network + "}";
  };
  const std::string port = R"("bandwidth": "10 GB/s", "latency": "5 us")";
  const std::string here = "/topology/network";
  check_mistakes(
      {{"/topology", with("{" + port + "}"), here + "/slices", "is missing"},
       {"/topology", with(R"({"slices": 1, )" + port + "}"), here + "/slices", "2 to 4096"},
       {"/topology", with(R"({"slices": 2, "latency": "5 us"})"), here + "/bandwidth",
        "is missing"},
       {"/topology", with(R"({"slices": 2, "bandwidth": "0 GB/s", "latency": "5 us"})"),
        here + "/bandwidth", "must be above 0"},
       {"/topology", with(R"({"slices": 2, "latency": "5 us", "bandwidth": {"value": "10 GB/s"}})"),
        here + "/bandwidth/class", "is missing"},
       {"/topology",
        with(
            R"({"slices": 2, "latency": "5 us", "bandwidth": {"value": "10 GB/s", "class": "assumed",
             "source": "", "range": ["11 GB/s", "12 GB/s"]}})"),
        here + "/bandwidth/range", "widen the range"},
       {"/topology", with(R"({"slices": 2, "bandwidth": "10 GB/s", "latency": 5})"),
        here + "/latency", "a time with its unit"},
       {"/topology", with(R"({"slices": 2, "chips_per_port": 3, )" + port + "}"),
        here + "/chips_per_port", "use a divisor of 8"},
       {"/topology", with(R"({"slices": 2, "chips_per_port": 9, )" + port + "}"),
        here + "/chips_per_port", "1 to 8"},
       {"/topology", with(R"({"slices": 2, "rate": 1, )" + port + "}"), here + "/rate",
        "unknown key"},
       {"/topology", with(R"({"slices": 2, )" + port + "}", R"("fully-connected": 1)"), "/topology",
        "slices of at least two chips"},
       {"/topology", with(R"({"slices": 4096, )" + port + "}", R"("mesh": "128x64")"),
        here + "/slices", "more than the 16777216 chips"},
       {"/topology",
        R"j({"slice": "4x2", "avoid": [["(0,0)", "(0,1)"]],
                       "network": {"slices": 2, )j" +
            port + "}}",
        "/topology/avoid", "which a network cannot have"}});
}

}  // namespace
}  // namespace equarx::config::topology_json_test
