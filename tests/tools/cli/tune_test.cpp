#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::tune_test {
namespace {

std::vector<std::string> tune(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"--formats", "int8,bf16"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return on_small_example("tune", arguments);
}

TEST_CASE("tune prints a Pareto front and writes a configuration that run accepts") {
  const TemporaryDirectory directory;
  const std::string best = (directory.path() / "best.json").string();
  const std::string table = output_of(equarx_sim(tune({"--min-sqnr", "30 dB", "-o", best})));
  CHECK_THAT(table, ContainsSubstring("speedup") && ContainsSubstring("candidates") &&
                        ContainsSubstring("the fastest within the limits"));
  CHECK_THAT(output_of(equarx_sim({"run", best})), ContainsSubstring("tuned"));
  CHECK(std::filesystem::exists(best));
  CHECK_FALSE(std::filesystem::exists(best + ".partial"));
}

TEST_CASE("tune --json contains the best configuration") {
  const auto found = nlohmann::json::parse(output_of(equarx_sim(tune({"--json"}))));
  CHECK(found["best_config"]["collectives"].size() == 2);
  CHECK(found["calibrated"] == true);
  CHECK(found["best"] == 0);
  CHECK(found["front_is_proved"] == true);
  CHECK(found["not_tried"].empty());
  CHECK(found["limits"]["max_nmse"].is_null());
  const auto all = nlohmann::json::parse(output_of(equarx_sim(tune({"--json", "--exhaustive"}))));
  CHECK(all["front"] == found["front"]);
  CHECK(all["others"].size() > found["others"].size());
}

TEST_CASE("tune --layouts writes a configuration that run accepts") {
  const TemporaryDirectory directory;
  const std::string config = (directory.path() / "train.json").string();
  std::ofstream(config) << R"({"hardware": "gb200", "topology": {"switch": 4}, "mesh": {"fsdp": 4},
      "step": {"training": {"model": "llama3-8b", "sequence": 512, "batch": 4}}})";
  const std::string best = (directory.path() / "best.json").string();
  const std::string table =
      output_of(equarx_sim({"tune", config, "--layouts", "--axes", "data,fsdp", "-o", best}));
  CHECK_THAT(table, ContainsSubstring("Layouts of a training step of llama3-8b") &&
                        ContainsSubstring("layouts: "));
  CHECK_THAT(output_of(equarx_sim({"run", best})), ContainsSubstring("Training step of llama3-8b"));
}

TEST_CASE("tune --layouts rejects what it does not search") {
  const auto path = [](const std::string& name) {
    return std::string(EQUARX_CONFIGS_DIR) + "/experiments/" + name + ".json";
  };
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--axes", "data"}, "--axes: is for layouts; add --layouts"},
      {{"--layout", "data=2"}, "--layout: is for layouts; add --layouts"},
      {{"--layouts", "--formats", "int8"}, "--formats: does not apply to --layouts"},
      {{"--layouts", "--min-sqnr", "30 dB"}, "--min-sqnr: does not apply to --layouts"},
      {{"--layouts", "--layout", "data=3"},
       "--layout: data 3 does not divide 16 chips; use 1, 2, 4, 8, 16"},
      {{"--layouts", "--axes", "model"}, "--axes: 'model' is no axis of training"}};
  for (const auto& [options, message] : cases) {
    CAPTURE(options);
    std::vector<std::string> arguments = {"tune", path("llama3_8b_train_v6e_16")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    check_refusal(equarx_sim(arguments), message);
  }
  check_refusal(equarx_sim({"tune", path("buckets_v5e_16x16"), "--layouts"}),
                "/step: trains no model, so it has no layouts; drop --layouts");
  check_refusal(equarx_sim({"tune", path("allreduce_v5e_4x2"), "--layouts"}),
                "--layouts: needs a configuration with a \"step\"");
}

TEST_CASE("tune rejects invalid limits") {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--min-sqnr", "30"}, "--min-sqnr: '30' is not a number of dB; write it like '30 dB'"},
      {{"--min-sqnr", "dB"}, "--min-sqnr: 'dB'"},
      {{"--min-sqnr", "30 db"}, "--min-sqnr: '30 db'"},
      {{"--min-sqnr", "nan dB"}, "--min-sqnr"},
      {{"--max-nmse", "30 dB"}, "--max-nmse: '30 dB' is not a number; write it like 1e-3"},
      {{"--max-nmse", "0"}, "--max-nmse: 0 is not above 0"},
      {{"--max-nmse", "-1"}, "not above 0"},
      {{"--max-nmse", "1", "--min-sqnr", "1 dB"}, "--min-sqnr: sets the same limit as --max-nmse"},
      {{"--max-time", "100"}, "--max-time"},
      {{"--max-time", "100 GB"}, "--max-time"},
      {{"--max-time", "0 us"}, "--max-time: 0 us is not above 0"},
      {{"--max-time", "1 ps"}, "--max-time"},
      {{"--budget", "10"}, "--budget"},
      {{"--budget", "0 s"}, "--budget: 0 s is not above 0"},
      {{"--budget", "0 min"}, "--budget: 0 min is not above 0"},
      {{"--budget", "2min "}, "--budget"},
      {{"--max-time", "1 ns"}, "--max-time: no candidate is faster than"},
      {{"--max-nmse", "1e-30"}, "--max-nmse: no configuration is accurate enough"},
      {{"--min-sqnr", "300 dB"}, "--min-sqnr: no configuration is accurate enough"}};
  for (const auto& [arguments, message] : cases) {
    CAPTURE(arguments);
    check_refusal(equarx_sim(tune(arguments)), message);
  }
}

TEST_CASE("tune rejects invalid input with the file name") {
  check_refusal(equarx_sim(on_small_example("tune", {"--formats", "int9"})),
                "--formats: 'int9' is not known; did you mean 'int8'?");
  check_refusal(equarx_sim(on_small_example("tune", {"--formats", "int8,,bf16"})), "--formats: ''");
  check_refusal(equarx_sim(on_small_example("tune", {"--set", "/tensor/dtype=fp64"})),
                kExample + ": /tensor/dtype");
  check_refusal(equarx_sim({"tune"}), "see 'equarx-sim tune --help'");
  check_refusal(equarx_sim(on_small_example("tune", {"--formats", "foo"})),
                "--formats: 'foo' is not known; use one of ");
  check_refusal(equarx_sim(tune({"-o", "/nowhere/best.json"})), "cannot write /nowhere/best.json");
}

const std::string kBuckets =
    std::string(EQUARX_CONFIGS_DIR) + "/experiments/buckets_v5e_16x16.json";

/// Twenty buckets on 16 chips with too little compute to hide them.
std::vector<std::string> tune_step(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"tune",      kBuckets,
                                        "--set",     "/topology/slice=4x4",
                                        "--set",     "/mesh/data=16",
                                        "--set",     "/step/tasks/1/compute/flops=5e10",
                                        "--set",     "/step/tasks/2/collective/bytes=8 MiB",
                                        "--formats", "int8,bf16"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST_CASE("tune of a step chooses collectives to quantize and writes a step that run accepts") {
  const TemporaryDirectory directory;
  const std::string best = (directory.path() / "best.json").string();
  const std::string table = output_of(equarx_sim(tune_step({"-o", best})));
  CHECK_THAT(table, ContainsSubstring("Tuning: ") && ContainsSubstring("tuned") &&
                        ContainsSubstring("SQNR of 30.0 dB"));
  CHECK_THAT(output_of(equarx_sim({"run", best})), ContainsSubstring("tuned"));
  const auto found = nlohmann::json::parse(output_of(equarx_sim(tune_step({"--json"}))));
  CHECK(found["groups"].size() == 1);
  CHECK(found["groups"][0]["chosen"] > 0);
  CHECK(found["variants"][1]["speedup"] > 1.0);
}

TEST_CASE("tune of a step rejects time limits and invalid input with the file name") {
  check_refusal(equarx_sim(tune_step({"--max-time", "1 ms"})),
                "--max-time: applies to a single collective");
  check_refusal(equarx_sim(tune_step({"--set", "/mesh/data=15"})), "buckets_v5e_16x16.json: /mesh");
  check_refusal(equarx_sim(tune_step({"--min-sqnr", "90 dB"})),
                "no configuration of 'bucket' is accurate enough");
  check_refusal(equarx_sim(tune_step({"-o", kBuckets})), "it is an input");
}

TEST_CASE("tune does not overwrite its input") {
  const TemporaryDirectory folder;
  const std::string config = folder.write("c.json", content_of(kExample));
  check_refusal(equarx_sim({"tune", config, "-o", config}), "it is an input");
  CHECK(content_of(config) == content_of(kExample));
}

}  // namespace
}  // namespace equarx::testing::tune_test
