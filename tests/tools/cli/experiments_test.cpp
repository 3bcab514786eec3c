#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing {
namespace {

TEST_CASE("every experiment of configs/experiments is valid, and runs") {
  const std::filesystem::path folder = std::filesystem::path(EQUARX_CONFIGS_DIR) / "experiments";
  std::size_t experiments = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    CAPTURE(path);
    CHECK(output_of(equarx_sim({"validate", path})) == path + ": valid\n");
    const auto result = nlohmann::json::parse(
        output_of(equarx_sim({"run", path, "--json", "--set", "/numerics=off"})));
    for (const auto& run : result["runs"]) {
      CHECK(run["time_s"].get<double>() >= run["lower_bound_s"].get<double>());
    }
    ++experiments;
  }
  CHECK(experiments >= 5);
}

}  // namespace
}  // namespace equarx::testing
