#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::testing::experiments_test {
namespace {

TEST_CASE("every experiment of configs/experiments is valid, and runs") {
  const std::filesystem::path folder = std::filesystem::path(EQUARX_CONFIGS_DIR) / "experiments";
  std::size_t experiments = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    CAPTURE(path);
    CHECK(output_of(equarx_sim({"validate", path})) == path + ": valid\n");
    ++experiments;
    const auto config = nlohmann::json::parse(content_of(path));
    if (config.contains("serving")) {
      const auto served = nlohmann::json::parse(
          output_of(equarx_sim({"serve", path, "--json", "--set", "/serving/load/requests=50"})));
      CHECK(served["requests_per_s"] > 0.0);
      continue;
    }
    // Steps have no numerics.
    const auto result = nlohmann::json::parse(
        config.contains("step")
            ? output_of(equarx_sim({"run", path, "--json"}))
            : output_of(equarx_sim({"run", path, "--json", "--set", "/numerics=off"})));
    const auto& runs = result["runs"];
    CHECK(!runs.empty());
    for (const auto& run : runs) {
      CHECK(run["time_s"].get<double>() >= run["lower_bound_s"].get<double>());
    }
  }
  CHECK(experiments >= 5);
}

TEST_CASE("run warns of a label that names another format than runs") {
  const CommandResult done = equarx_sim(on_small_example(
      "run", {"--set", "/tensor/dtype=fp32", "--set", "/collectives/0/format=fp32"}));
  CHECK(done.exit_code == 0);
  CHECK(done.err ==
        "equarx-sim: warning: candidate 'bf16' runs in fp32, the type of the tensor, not in bf16: "
        "set \"format\": \"bf16\" in it, or \"dtype\": \"bf16\" in \"tensor\", or rename it\n");
}

}  // namespace
}  // namespace equarx::testing::experiments_test
