#include "experiments/inspect/topology.hpp"

#include "base/input/json.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/topology_json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::inspect::topology_test {
namespace {

const std::string kIslands = EQUARX_CONFIGS_DIR "/topologies/two_islands.json";

TopologyReport report_of(const std::string& topology) {
  const hardware::Chip chip = config::load_chip("tpu-v5e", "");
  return report_topology(config::read_topology({input::parse_json(topology), "/topology"}, chip),
                         chip);
}

TEST_CASE("a slice is described for people") {
  const std::string table = to_table(report_of(R"({"slice": "8x16"})"));
  CHECK(table ==
        "slice 8x16 of tpu-v5e, 128 chips\n\n"
        "  chips                   128\n"
        "  links                   240\n"
        "  axes                    8 x 16 (wraps)\n"
        "  links per chip          3 to 4\n"
        "  link bandwidth          43.67 GB/s payload one way\n"
        "  link latency            200.0 ns\n"
        "  diameter                15 hops\n"
        "  average distance        6.677 hops\n"
        "  bisection bandwidth     698.8 GB/s one way, over 16 links (exact)\n"
        "  ring through all chips  found\n");
}

TEST_CASE("a missing ring, and a ring around avoided links, are described") {
  CHECK_THAT(to_table(report_of(R"({"mesh": "3x1"})")),
             ContainsSubstring("none: chip (0,0) has only 1 usable link"));
  CHECK_THAT(to_table(report_of(R"j({"torus": "4x4", "avoid": [["(0,0)", "(0,1)"]]})j")),
             ContainsSubstring("found (without 1 link)\n"));
  const input::Json none = to_json(report_of(R"({"mesh": "3x3"})"))["ring"];
  CHECK(none["outcome"] == "none");
  CHECK_THAT(none["reason"].get<std::string>(), ContainsSubstring("parts of 5 and 4 chips"));
  CHECK_FALSE(none.contains("chips"));
}

TEST_CASE("a graph with links of several speeds is described as JSON") {
  const input::Json json = to_json(report_of(R"({"file": ")" + kIslands + R"("})"));
  CHECK(json["hardware"] == "tpu-v5e");
  CHECK(json["topology"] == input::Json({{"file", kIslands}}));
  CHECK(json["chips"] == 8);
  CHECK(json["cables"] == 14);
  CHECK_FALSE(json.contains("axes"));
  CHECK(json["cables_per_chip"] == input::Json({{"least", 3}, {"most", 4}}));
  CHECK(json["link_bytes_per_s"]["least"] == 12.5e9);
  CHECK(json["link_latency_s"]["most"] == 5e-6);
  CHECK(json["diameter_hops"] == 3);
  CHECK(json["bisection"] ==
        input::Json({{"bytes_per_s_one_way", 25e9}, {"cables", 2}, {"exact", true}}));
  CHECK(json["ring"]["outcome"] == "found");
  CHECK(json["ring"]["chips"].size() == 8);
  CHECK(json["ring"]["chips"][0] == "a0");
}

TEST_CASE("a bound is not reported as exact") {
  const std::string twisted = EQUARX_CONFIGS_DIR "/topologies/twisted_torus_4x8.json";
  CHECK_THAT(to_table(report_of(R"({"file": ")" + twisted + R"("})")),
             ContainsSubstring("at most 698.8 GB/s one way, over 16 links (best cut found)"));
}

TEST_CASE("a single chip without links is described") {
  for (const std::string topology : {R"({"slice": "1x1"})", R"({"fully-connected": 1})"}) {
    const TopologyReport report = report_of(topology);
    CHECK_THAT(to_table(report), ContainsSubstring("1 chip\n") && ContainsSubstring("0 hops"));
    CHECK(to_json(report)["link_bytes_per_s"]["most"] == 0.0);
    CHECK_THAT(to_svg(report), ContainsSubstring("</svg>"));
  }
}

TEST_CASE("the picture has the ring and a title, and is refused if illegible") {
  CHECK_THAT(to_svg(report_of(R"({"slice": "4x2"})")),
             ContainsSubstring("slice 4x2 of tpu-v5e, 8 chips") &&
                 ContainsSubstring("ring, from (0,0) on"));
  const TopologyReport large = report_of(R"({"torus": "80x80"})");
  CHECK_THAT(testing::message_of([&] { to_svg(large); }), ContainsSubstring("at most 4096"));
}

TEST_CASE("for slices joined by a network, one slice and the network are described") {
  const std::string table = to_table(report_of(
      R"({"slice": "4x2", "network": {"slices": 2, "bandwidth": "25 GB/s", "latency": "10 us",
          "chips_per_port": 8}})"));
  CHECK_THAT(table, ContainsSubstring("2 x slice 4x2 of tpu-v5e, 8 chips each\n"));
  CHECK_THAT(table,
             ContainsSubstring("joins 2 slices: 25.00 GB/s each way and 10.00 us per 8 chips\n"));
}

}  // namespace
}  // namespace equarx::inspect::topology_test
