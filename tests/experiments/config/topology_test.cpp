#include "experiments/config/topology.hpp"

#include <algorithm>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/topology_json.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"

namespace equarx::config::topology_test {
namespace {

using testing::check_refused;

const std::string kIslands = EQUARX_CONFIGS_DIR "/topologies/two_islands.json";

hardware::Chip chip() { return load_chip("tpu-v5e", ""); }

TopologyConfig config_of(const std::string& topology) {
  return read_topology({input::parse_json(topology), "/topology"}, chip());
}

TEST_CASE("chips of every kind are counted") {
  CHECK(count_chips(config_of(R"({"slice": "4x2"})")) == 8);
  CHECK(count_chips(config_of(R"({"torus": "4x4x4"})")) == 64);
  CHECK(count_chips(config_of(R"({"ring": 5})")) == 5);
  CHECK(count_chips(config_of(R"({"fully-connected": 7})")) == 7);
  CHECK(count_chips(config_of(R"({"file": ")" + kIslands + R"("})")) == 8);
  CHECK(count_chips(config_of(R"({"mesh": "4096x4096"})")) == 1U << 24);  // not built
}

TEST_CASE("the maximum number of links of a chip is counted for every kind") {
  CHECK(links_of_chip(config_of(R"({"slice": "4x2"})"), chip()) ==
        3);  // neighbours along an axis of two: one
  CHECK(links_of_chip(config_of(R"({"torus": "4x4x4"})"), chip()) == 6);
  CHECK(links_of_chip(config_of(R"({"ring": 5})"), chip()) == 2);
  CHECK(links_of_chip(config_of(R"({"fully-connected": 7})"), chip()) == 6);
  CHECK(links_of_chip(config_of(R"({"file": ")" + kIslands + R"("})"), chip()) == 4);
}

TEST_CASE("every kind is planned with the hardware's speeds") {
  for (const std::string topology :
       {R"({"slice": "4x2"})", R"({"mesh": "3x3"})", R"({"torus": "4x4x4"})", R"({"ring": 5})",
        R"({"fully-connected": 7})"}) {
    CAPTURE(topology);
    const TopologyConfig config = config_of(topology);
    const PlannedTopology planned = plan_topology(config, chip());
    CHECK(planned.graph.chip_count() == count_chips(config));
    CHECK(planned.links.size() == planned.graph.link_count());
    CHECK(planned.shape.has_value() == (config.kind != TopologyKind::fully_connected));
    CHECK(std::ranges::all_of(planned.links, [](const LinkSpeed& link) {
      return link.rate == chip().link_rate() && link.latency_s == chip().hop_latency.value;
    }));
  }
}

TEST_CASE("a port of a switch has the rate of all links, and one latency from chip to chip") {
  const TopologyConfig config = config_of(R"({"switch": 7})");
  CHECK(count_chips(config) == 7);
  CHECK(links_of_chip(config, chip()) == 4);
  CHECK(joins_all_alike(config));
  CHECK(topology_text(config) == "switch");
  CHECK(topology_json(config) == input::Json({{"switch", 7}}));
  const PlannedTopology planned = plan_topology(config, chip());
  CHECK(planned.graph.chip_count() == 7);
  REQUIRE(planned.links.size() == 14);
  for (std::size_t link = 0; link < planned.links.size(); ++link) {
    CHECK(planned.links[link].rate == 4.0 * chip().link_rate());
    CHECK(planned.links[link].latency_s == (link % 2 == 0 ? chip().hop_latency.value : 0.0));
  }
}

TEST_CASE("replicated switches follow all chips") {
  const TopologyConfig config = config_of(
      R"({"switch": 3, "network": {"slices": 2, "bandwidth": "10 GB/s", "latency": "1 us"}})");
  const PlannedTopology planned = plan_topology(config, chip());
  CHECK(planned.graph.chip_count() == 6);
  CHECK(planned.graph.node_count() == 8);
  CHECK(planned.graph.label(4) == "1:1");
  CHECK(planned.graph.label(7) == "1:switch");
  CHECK(planned.graph.find_link(4, 7) == topology::LinkId{8});
  CHECK_FALSE(planned.graph.find_link(4, 6).has_value());
}

TEST_CASE(
    "speeds in a graph are payload speeds of both directions, the hardware's are the default") {
  const PlannedTopology planned =
      plan_topology(config_of(R"({"file": ")" + kIslands + R"("})"), chip());
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

TEST_CASE("impractically large machines are refused before they are built") {
  check_refused([] { plan_topology(config_of(R"({"mesh": "4096x4096"})"), chip()); }, "/topology",
                "has 16777216 chips; at most 131072");
}

TEST_CASE("topologies have short names") {
  CHECK(topology_text(config_of(R"({"slice": "4x2"})")) == "slice 4x2");
  CHECK(topology_text(config_of(R"({"fully-connected": 2})")) == "fully connected");
  CHECK(topology_text(config_of(R"({"file": ")" + kIslands + R"("})")) == "graph two-islands");
}

TEST_CASE(
    "slices joined by a network are planned one after the other, without links between them") {
  const TopologyConfig config = config_of(
      R"({"slice": "4x2", "network": {"slices": 3, "bandwidth": "10 GB/s", "latency": "5 us"}})");
  CHECK(count_chips(config) == 24);
  CHECK(count_chips_of_slice(config) == 8);
  CHECK(topology_text(config) == "3 x slice 4x2");
  CHECK(is_grid(config));
  const PlannedTopology planned = plan_topology(config, chip());
  REQUIRE(planned.slice);
  CHECK_FALSE(planned.shape);
  CHECK(planned.slice->shape);
  CHECK(planned.graph.chip_count() == 24);
  CHECK(planned.graph.link_count() == 3 * planned.slice->graph.link_count());
  CHECK(planned.links.size() == planned.graph.link_count());
  CHECK(planned.graph.label(0) == "0:(0,0)");
  CHECK(planned.graph.label(23) == "2:(3,1)");
  for (topology::LinkId id = 0; id < planned.graph.link_count(); ++id)
    CHECK(planned.graph.link(id).from / 8 == planned.graph.link(id).to / 8);
}

}  // namespace
}  // namespace equarx::config::topology_test
