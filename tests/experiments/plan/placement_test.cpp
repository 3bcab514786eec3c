#include "experiments/plan/placement.hpp"

#include <string>
#include <utility>
#include <vector>

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::plan::placement_test {
namespace {

input::Json pairwise(const input::Json& topology) {
  return {{"hardware", "tpu-v5e"},
          {"topology", topology},
          {"tensor", {{"bytes", "2 MiB"}}},
          {"collectives",
           {{{"algorithm", "halving-doubling"}},
            {{"label", "int8"}, {"algorithm", "halving-doubling"}, {"format", "int8"}},
            {{"algorithm", "recursive-doubling"}}}},
          {"numerics", "off"},
          {"simulation", "full"}};
}

/// Time and bytes on the busiest link of each collective.
std::vector<std::pair<double, std::uint64_t>> outcome(const input::Json& topology) {
  std::vector<std::pair<double, std::uint64_t>> all;
  for (const run::RunResult& run : testing::run(pairwise(topology)).runs)
    all.emplace_back(run.time_s, run.wire_bytes_per_link);
  return all;
}

TEST_CASE("pairwise exchanges take the same time however the axes are ordered") {
  const std::vector<std::vector<std::string>> machines = {
      {"2x8", "8x2"}, {"4x8", "8x4"}, {"2x4", "4x2"}, {"2x4x8", "8x4x2", "4x8x2", "8x2x4"}};
  for (const std::string kind : {"torus", "mesh"})
    for (const std::vector<std::string>& orders : machines)
      for (const std::string& order : orders) {
        CAPTURE(kind, order);
        const auto expected = outcome({{kind, orders.front()}});
        const auto found = outcome({{kind, order}});
        for (std::size_t i = 0; i < found.size(); ++i) {
          CHECK(found[i].first == Approx(expected[i].first).epsilon(1e-9));
          CHECK(found[i].second == expected[i].second);
        }
      }
}

TEST_CASE("the largest exchange of halving and doubling is along the shortest axis") {
  // On an axis of 8, exchanges of 1/4, 1/8 and 1/16 of the tensor, over 1, 2 and 4 links, the last
  // ones half each way: 8/16 of a tensor in both phases on the busiest link.
  const input::Json json = pairwise({{"torus", "2x8"}});
  CHECK(testing::run(json).runs[0].wire_bytes_per_link == (2ULL << 20U));
}

}  // namespace
}  // namespace equarx::plan::placement_test
