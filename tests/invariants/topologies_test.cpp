// A collective on every kind of topology.
#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::testing::topologies_test {
namespace {

const std::string kIslands = EQUARX_CONFIGS_DIR "/topologies/two_islands.json";

TEST_CASE("collectives run on every kind of topology") {
  for (const std::string& topology :
       {std::string(R"({"fully-connected": 6})"), std::string(R"({"switch": 6})"),
        std::string(R"j({"torus": "4x4", "avoid": [["(0,0)", "(0,1)"], ["(2,2)", "(3,2)"]]})j"),
        R"({"file": ")" + kIslands + R"("})"}) {
    CAPTURE(topology);
    const run::ExperimentResult result = run(changed("/topology", topology));
    for (const run::RunResult& one : result.runs) {
      CHECK(one.time_s > one.lower_bound_s);
      CHECK(one.numerics->ranks_identical);
    }
  }
}

TEST_CASE("slow links make a collective slow") {
  const auto time_of = [](const std::string& pointer, const std::string& text) {
    return run(changed(pointer, text)).runs.front().time_s;
  };
  CHECK(time_of("/topology/file", kIslands) > 2.0 * time_of("/topology/fully-connected", "8"));
}

}  // namespace
}  // namespace equarx::testing::topologies_test
