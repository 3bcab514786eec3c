#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::calibrate_test {
namespace {

const std::string kExample = EQUARX_CONFIGS_DIR "/calibrations/made_up_chip.json";

TEST_CASE("calibrate prints the fit and writes a hardware file that run accepts") {
  const TemporaryDirectory directory;
  const std::string chip = (directory.path() / "chip.json").string();
  const std::string table = output_of(equarx_sim({"calibrate", kExample, "-o", chip}));
  CHECK_THAT(table, ContainsSubstring("hop_latency") && ContainsSubstring("chi^2") &&
                        ContainsSubstring("Condition index"));
  CHECK_THAT(output_of(equarx_sim({"hardware", chip})),
             ContainsSubstring("made-up-chip") && ContainsSubstring("observation"));
  CHECK_THAT(output_of(equarx_sim({"run", EQUARX_CONFIGS_DIR "/calibrations/allreduce_2x4.json",
                                   "--set", "/hardware=" + chip})),
             ContainsSubstring("made-up-chip"));
}

TEST_CASE("calibrate --json prints the fit as JSON") {
  const auto found =
      nlohmann::json::parse(output_of(equarx_sim({"calibrate", kExample, "--json"})));
  CHECK(found["parameters"].size() == 3);
  CHECK(found["correlation"].size() == 36);
  CHECK(found["measurements"].size() == 12);
}

TEST_CASE("calibrate does not overwrite its inputs") {
  const TemporaryDirectory directory;
  nlohmann::json task = nlohmann::json::parse(content_of(kExample));
  const std::string chip = directory.write("chip.json", R"({"based_on": "tpu-v5e"})");
  nlohmann::json config =
      nlohmann::json::parse(content_of(EQUARX_CONFIGS_DIR "/calibrations/allreduce_2x4.json"));
  config.erase("hardware");  // defaults to the task's
  for (auto& measurement : task["measurements"]) measurement["config"] = config;
  task["hardware"] = chip;
  const std::string file = directory.write("measured.json", task.dump());
  for (const std::string& output : {file, chip})
    check_refusal(equarx_sim({"calibrate", file, "-o", output}), "it is an input");
  CHECK(content_of(file) == task.dump());
  CHECK(file_count(directory.path()) == 2);
}

TEST_CASE("calibrate rejects invalid input with the file name and writes nothing") {
  const TemporaryDirectory directory;
  const std::string file = (directory.path() / "measured.json").string();
  const std::string chip = (directory.path() / "chip.json").string();
  std::ofstream(file) << R"({"hardware": "tpu-v5e", "fit": ["hop_latncy"], "measurements": []})";
  check_refusal(equarx_sim({"calibrate", file, "-o", chip}),
                file + ": /fit/0: 'hop_latncy' is not a parameter");
  std::ofstream(file) << R"({"hardware": "tpu-v5e", "fit": ["hop_latency"], "measurements": [
    {"what": "x", "source": "x", "role": "fit", "measured": "1 us", "standard_error": "1 us",
     "config": {"topology": {"slice": "4x2"}, "tensor": {"bytes": "1 B"},
                "collectives": [{"algorithm": "ring"}]}}]})";
  check_refusal(equarx_sim({"calibrate", file, "-o", chip}), file + ": /measurements/0/config");
  CHECK_FALSE(std::filesystem::exists(chip));
  check_refusal(equarx_sim({"calibrate", "/nowhere.json"}), "cannot read /nowhere.json");
  check_refusal(equarx_sim({"calibrate", kExample, "-o", "/nowhere/chip.json"}),
                "cannot write /nowhere/chip.json");
}

}  // namespace
}  // namespace equarx::testing::calibrate_test
