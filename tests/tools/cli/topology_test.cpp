#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::topology_test {
namespace {

const std::string kIslands = std::string(EQUARX_CONFIGS_DIR) + "/topologies/two_islands.json";

std::vector<std::string> topology(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "topology");
  return arguments;
}

TEST_CASE("topology describes a configuration and its overrides") {
  CHECK_THAT(output_of(equarx_sim(topology({kExample}))),
             Catch::Matchers::StartsWith("slice 4x2 of tpu-v5e, 8 chips\n"));
  CHECK_THAT(output_of(equarx_sim(topology({kExample, "--set", "/topology/ring=6"}))),
             Catch::Matchers::StartsWith("ring of tpu-v5e, 6 chips\n"));
}

TEST_CASE("topology describes the topology of its options") {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--slice", "4x4"}, "slice 4x4 of tpu-v5e, 16 chips\n"},
      {{"--mesh", "8"}, "mesh 8 of tpu-v5e, 8 chips\n"},
      {{"--torus", "4x4x4"}, "torus 4x4x4 of tpu-v5e, 64 chips\n"},
      {{"--torus", "4x4", "--wraparound", "true,false"},
       "  axes                    4 (wraps) x 4\n"},
      {{"--ring", "8"}, "ring of tpu-v5e, 8 chips\n"},
      {{"--fully-connected", "8"}, "  links                   28\n"},
      {{"--file", kIslands}, "graph two-islands of tpu-v5e, 8 chips\n"},
      {{"--slice", "4x4", "--hardware", std::string(EQUARX_CONFIGS_DIR) + "/hardware/tpu-v5e.json"},
       "slice 4x4 of tpu-v5e"},
      {{"--ring", "4", "--set", R"j(/topology/avoid=[["(0)","(1)"]])j"},
       "none: chip (0) has only 1 usable link, and a ring needs 2 (without 1 link)\n"}};
  for (const auto& [arguments, part] : cases) {
    CAPTURE(arguments);
    CHECK_THAT(output_of(equarx_sim(topology(arguments))), ContainsSubstring(part));
  }
}

TEST_CASE("topology prints JSON") {
  const auto json =
      nlohmann::json::parse(output_of(equarx_sim(topology({"--torus", "4x4", "--json"}))));
  CHECK(json["axes"].size() == 2);
  CHECK(json["axes"][0]["wraparound"] == true);
  CHECK(json["ring"]["chips"].size() == 16);
}

TEST_CASE("topology --svg draws the topology") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() / "torus.svg";
  output_of(equarx_sim(topology({"--torus", "4x4", "--svg", path})));
  std::ifstream file(path);
  const std::string svg(std::istreambuf_iterator<char>(file), {});
  CHECK(svg.starts_with("<svg "));
  CHECK_THAT(svg, ContainsSubstring("(3,3)") && ContainsSubstring("ring, from (0,0) on"));
}

TEST_CASE("an invalid topology is rejected in one line") {
  const TemporaryDirectory directory;
  const std::string bad = directory.write("bad.json", R"({"name": "x", "chips": 2, "links": []})");
  const std::string config = directory.write("config.json", R"({"topology": {"ring": 4}})");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "error: topology: needs one of slice, mesh, torus, ring, fully-connected, switch, file"},
      {{"--slice", "3x3"}, "error: --slice: tpu-v5e has no slice 3x3"},
      {{"--slice", "4x4", "--mesh", "4x4"}, "error: topology: has both 'slice' and 'mesh'"},
      {{"--mesh", "4x"}, "error: --mesh: "},
      {{"--mesh", "1000x1000"}, "error: topology: has 1000000 chips; at most 131072"},
      {{"--ring", "x"}, "error: --ring: expected an integer"},
      {{"--ring", "0"}, "error: --ring: 0 is not an integer from 1"},
      {{"--ring", "-1"}, "error: --ring: -1 is not an integer from 1"},
      {{"--fully-connected", "2000"}, "error: --fully-connected: 2000 is not an integer"},
      {{"--torus", "4x4", "--wraparound", "yes,no"}, "expected true or false for each of the 2"},
      {{"--torus", "4x4", "--wraparound", "true"}, "expected true or false for each of the 2"},
      {{"--ring", "8", "--wraparound", "true"}, "error: --wraparound: unknown key"},
      {{"--file", "none.json"}, "error: --file: cannot read none.json: No such file"},
      {{"--file", bad}, "bad.json: /links: no links lead from chip '0' to chip '1'"},
      {{"--hardware", "tpu-v9", "--ring", "4"}, "error: --hardware: 'tpu-v9' is not a known chip"},
      {{"none.json"}, "cannot read none.json"},
      {{config}, "config.json: /hardware: is missing"},
      {{kExample, "--ring", "4"}, "give a CONFIG or options for the topology, not both"},
      {{kExample, "--hardware", "tpu-v5e"}, "not both"},
      {{"--ring", "4", "--set", "/topology/avoid=1"}, "error: /topology/avoid: "},
      {{kExample, "--set", "/topology/mesh=0"}, kExample + ": /topology/mesh: expected a string"},
      {{"--ring", "4", "--set", "x"}, "--set x: expected a JSON pointer"},
      {{"--ring", "4", "--svg", directory.path()}, "cannot write "},
      {{"--file", bad, "--svg", bad}, "it is an input"},
      {{config, "--svg", config}, "it is an input"},
      {{"--ring", "4", "--svg", "none/x.svg"}, "cannot write none/x.svg: No such file"},
      {{"--mesh", "100x100", "--svg", "x.svg"}, "draw at most 4096"},
      {{"--ring", "4", "--bogus"}, "see 'equarx-sim topology --help'"},
      {{kExample, kExample}, "see 'equarx-sim topology --help'"}};
  for (const auto& [arguments, part] : cases) {
    CAPTURE(arguments);
    check_refusal(equarx_sim(topology(arguments)), part);
  }
}

}  // namespace
}  // namespace equarx::testing::topology_test
