// The default cuts are about as fast as the fastest, if only sizes matter.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::testing::default_cuts_test {
namespace {

struct MachineCase {
  std::string hardware;
  std::string topology;
  std::vector<std::string> sizes;
};

/// A quantized two-shot AllReduce by the direct engine, times only.
input::Json two_shot(const MachineCase& machine_case, const std::string& bytes) {
  return {{"hardware", machine_case.hardware},
          {"topology", input::parse_json(machine_case.topology)},
          {"tensor", {{"bytes", bytes}}},
          {"collectives", {{{"algorithm", "two-shot"}, {"format", "int8"}}}},
          {"numerics", "off"},
          {"engine", "direct"}};
}

double time_s(const input::Json& json) { return run(json).runs.front().time_s; }

TEST_CASE("default cuts of two-shot are within 5 % of the best microshards, and 15 % of any cuts") {
  constexpr double kAtMost = 1.05;
  // Minishards determine the number of elements per scale, so fewer of them are faster but less
  // accurate.
  constexpr double kAtMostOfAll = 1.15;
  for (const MachineCase& machine_case :
       {MachineCase{"tpu-v5p", R"({"fully-connected": 8})", {"1 MiB", "16 MiB", "64 MiB"}},
        MachineCase{"tpu-v5p", R"({"fully-connected": 16})", {"1 MiB", "16 MiB", "64 MiB"}},
        MachineCase{"tpu-v5e", R"({"slice": "4x2"})", {"1 MiB", "16 MiB"}},
        MachineCase{"tpu-v5e", R"({"torus": "4x4"})", {"1 MiB", "16 MiB"}},
        MachineCase{"tpu-v6e", R"({"mesh": "4x2"})", {"1 MiB", "16 MiB"}}})
    for (const std::string& bytes : machine_case.sizes) {
      CAPTURE(machine_case.hardware, machine_case.topology, bytes);
      input::Json json = two_shot(machine_case, bytes);
      const run::RunResult by_default = run(json).runs.front();
      double best_s = std::numeric_limits<double>::infinity();
      double best_microshards_s = best_s;
      for (const std::uint32_t minishards : {1U, 2U, 4U, 8U, 16U, 32U})
        for (const std::uint32_t microshards : {1U, 2U, 4U}) {
          json["collectives"][0]["minishards"] = minishards;
          json["collectives"][0]["microshards"] = microshards;
          const double one_s = time_s(json);
          best_s = std::min(best_s, one_s);
          if (minishards == by_default.cut.value().minishards)
            best_microshards_s = std::min(best_microshards_s, one_s);
        }
      CHECK(by_default.time_s <= kAtMost * best_microshards_s);
      CHECK(by_default.time_s <= kAtMostOfAll * best_s);
    }
}

}  // namespace
}  // namespace equarx::testing::default_cuts_test
