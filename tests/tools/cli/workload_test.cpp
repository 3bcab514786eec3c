#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::workload_test {
namespace {

const std::string kPrefill =
    std::string(EQUARX_CONFIGS_DIR) + "/experiments/gemma3_27b_prefill_v5e_4x4.json";

std::vector<std::string> changed(const std::string& command, const std::string& change) {
  return {command, kPrefill, "--set", "/numerics=off", "--set", change};
}

nlohmann::json run_json(const std::string& config) {
  const CommandResult result =
      equarx_sim({"run", std::string(EQUARX_CONFIGS_DIR) + "/experiments/" + config, "--set",
                  "/numerics=off", "--json"});
  REQUIRE(result.exit_code == 0);
  return nlohmann::json::parse(result.out);
}

TEST_CASE("the prefill of Gemma 3 27B matches the paper") {
  const nlohmann::json runs = run_json("gemma3_27b_prefill_v5e_4x4.json")["runs"];
  REQUIRE(runs.size() == 3);
  CHECK(runs[0]["time_s"].get<double>() == Approx(0.24257).epsilon(5e-5));  // fitted to it
  CHECK(runs[2]["label"] == "semi-loop");
  CHECK(runs[2]["speedup"].get<double>() == Approx(1.25).epsilon(0.03));  // not fitted
  CHECK(runs[2]["time_s"].get<double>() == Approx(0.19487).epsilon(0.03));
  for (const nlohmann::json& run : runs) CHECK(run["collectives"][0]["tasks"] == 124);
}

TEST_CASE("the prefill of Gemma 3 12B matches the paper") {
  const nlohmann::json runs = run_json("gemma3_12b_prefill_v5e_2x2.json")["runs"];
  CHECK(runs[1]["label"] == "full-loop");
  CHECK(runs[1]["speedup"].get<double>() == Approx(1.1).epsilon(0.03));
}

TEST_CASE("invalid workloads are rejected by every command that reads them") {
  for (const std::string command : {"run", "show", "validate"}) {
    check_refusal(equarx_sim(changed(command, "/workload/tokens=0")), "/workload/tokens: 0");
    check_refusal(equarx_sim(changed(command, "/workload/model=gemma3-28b")),
                  "did you mean 'gemma3-27b'?");
    check_refusal(equarx_sim(changed(command, "/topology/slice=8x8")),
                  "/workload/model: 32 heads of gemma3-27b cannot be divided over 64 chips");
    check_refusal(equarx_sim(changed(command, "/workload/tokens=131073")),
                  "gemma3-27b takes 1 to 131072");
  }
}

TEST_CASE("a model that does not fit is computed with a warning, or refused, or just computed") {
  const std::string shortage = "GiB more than its 14.90 GiB; use more chips";
  for (const std::string command : {"run", "validate"}) {
    std::vector<std::string> arguments = changed(command, "/topology/slice=1x1");
    const CommandResult warned = equarx_sim(arguments);
    CHECK(warned.exit_code == 0);
    CHECK_THAT(warned.err, Catch::StartsWith("equarx-sim: warning: /workload/model: ") &&
                               Catch::Contains(shortage));
    arguments.insert(arguments.end(), {"--set", "/memory=refuse"});
    check_refusal(equarx_sim(arguments), shortage);
    arguments.back() = "/memory=ignore";
    const CommandResult ignored = equarx_sim(arguments);
    CHECK(ignored.exit_code == 0);
    CHECK(ignored.err.empty());
  }
}

TEST_CASE("a workload on one chip runs without AllReduces") {
  const std::string one_chip =
      std::string(EQUARX_CONFIGS_DIR) + "/experiments/gemma3_12b_prefill_v5e_2x2.json";
  const std::vector<std::string> changes = {one_chip, "--set", "/hardware=tpu-v6e", "--set",
                                            "/topology/slice=1x1"};
  for (const std::string command : {"run", "show", "validate"}) {
    std::vector<std::string> arguments = changes;
    arguments.insert(arguments.begin(), command);
    const CommandResult result = equarx_sim(arguments);
    CAPTURE(command, result.out);
    CHECK(result.exit_code == 0);
    CHECK(result.err.empty());
  }
}

TEST_CASE("a workload is tuned and advised on like a step") {
  const std::string gemma =
      std::string(EQUARX_CONFIGS_DIR) + "/experiments/gemma3_12b_prefill_v5e_2x2.json";
  const std::vector<std::string> small = {gemma, "--set", "/workload/tokens=512", "--formats",
                                          "int8"};
  const auto with = [&](const std::string& command) {
    std::vector<std::string> arguments = small;
    arguments.insert(arguments.begin(), command);
    return output_of(equarx_sim(arguments));
  };
  CHECK_THAT(with("tune"), ContainsSubstring("sum activations") && ContainsSubstring("Best"));
  CHECK_THAT(with("advise"), ContainsSubstring("Quantize?") && ContainsSubstring("68 % interval"));
}

}  // namespace
}  // namespace equarx::testing::workload_test
