#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::hardware_test {
namespace {

using nlohmann::json;

TEST_CASE("hardware lists the built-in chips") {
  const std::string list = output_of(equarx_sim({"hardware"}));
  for (const std::string name : {"tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu-v7", "mi300x",
                                 "a100", "h100", "gh200", "h200", "h800", "b200", "gb200"})
    CHECK_THAT(list, ContainsSubstring(name));
  const json chips = json::parse(output_of(equarx_sim({"hardware", "--json"})));
  CHECK(chips.size() == 13);
}

TEST_CASE("hardware shows one chip, by name or by path") {
  const std::string path = std::string(EQUARX_CONFIGS_DIR) + "/hardware/tpu-v5p.json";
  const std::string report = output_of(equarx_sim({"hardware", "tpu-v5p"}));
  CHECK_THAT(report, ContainsSubstring("step_sync_time") && ContainsSubstring("assumed"));
  CHECK(output_of(equarx_sim({"hardware", path})) == report);
}

TEST_CASE("hardware --json prints a hardware file usable in place of a name") {
  const std::string text = output_of(equarx_sim({"hardware", "tpu-v5e", "--json"}));
  json mine = json::parse(text);
  const TemporaryDirectory directory;
  const std::string path = directory.write("mine.json", text);
  CHECK(output_of(equarx_sim({"hardware", path, "--json"})) == text);
  const auto runs = [](const std::string& hardware) {
    return json::parse(output_of(
        equarx_sim(on_small_example("run", {"--json", "--set", "/hardware=" + hardware}))))["runs"];
  };
  CHECK(runs(path) == runs("tpu-v5e"));
  mine["parameters"]["link_bandwidth"]["value"] = "90 GB/s";
  const std::string faster = directory.write("faster.json", mine.dump());
  CHECK(runs(faster)[0]["time_s"].get<double>() < runs("tpu-v5e")[0]["time_s"].get<double>());
  CHECK_THAT(output_of(equarx_sim({"hardware", faster})), ContainsSubstring("90 GB/s"));
}

TEST_CASE("a chip with a changed parameter runs, is named after it, and is not calibrated") {
  const auto run = [](const std::vector<std::string>& more) {
    return output_of(equarx_sim(on_small_example("run", more)));
  };
  const std::string set = "/hardware/link_bandwidth=90 GB/s";
  const std::string table = run({"--set", set});
  CHECK_THAT(table, ContainsSubstring("each of 8 x tpu-v5e (link_bandwidth 90 GB/s), slice 4x2"));
  CHECK_THAT(table, ContainsSubstring("Not calibrated: no parameter was fitted"));
  const json changed = json::parse(run({"--set", set, "--json"}));
  CHECK(changed["config"]["hardware"] ==
        json({{"based_on", "tpu-v5e"}, {"link_bandwidth", "90 GB/s"}}));
  CHECK(changed["parameters"]["link_bandwidth"]["class"] == "assumed");
  CHECK(changed["runs"][0]["calibrated"] == false);
  const json plain = json::parse(run({"--json"}));
  CHECK(changed["runs"][0]["time_s"] < plain["runs"][0]["time_s"]);
  CHECK(changed["config_hash"] != plain["config_hash"]);

  const TemporaryDirectory directory;
  const std::string file =
      directory.write("mine.json", R"({"based_on": "tpu-v5e", "link_bandwidth": "90 GB/s"})");
  const json from_file = json::parse(run({"--set", "/hardware=" + file, "--json"}));
  CHECK(from_file["runs"] == changed["runs"]);
  CHECK_THAT(output_of(equarx_sim({"hardware", file})),
             ContainsSubstring("tpu-v5e (link_bandwidth 90 GB/s)"));
  CHECK_THAT(output_of(equarx_sim({"topology", kExample, "--set", set})),
             ContainsSubstring("of tpu-v5e (link_bandwidth 90 GB/s), 8 chips"));
}

TEST_CASE("HBM slower than all links is the bottleneck, and rejected where it is not modelled") {
  std::vector<std::string> command =
      on_small_example("run", {"--verbose", "--set", "/hardware/hbm_bandwidth=100 GB/s"});
  CHECK_THAT(output_of(equarx_sim(command)),
             ContainsSubstring("Busiest HBM, shared by DMAs and cores"));
  command.insert(command.end(), {"--set", "/wire_buffers=vmem"});
  check_refusal(equarx_sim(command), "remove \"wire_buffers\": \"vmem\"");
}

TEST_CASE("hardware rejects unknown chips and invalid files") {
  check_refusal(equarx_sim({"hardware", "tpu-v9"}),
                "'tpu-v9' is not a known chip; did you mean 'tpu-v4'? (one of a100");
  check_refusal(equarx_sim({"hardware", "none.json"}),
                "error: cannot read none.json: No such file");
  check_refusal(equarx_sim({"hardware", kExample}), "in " + kExample + ": ");
  check_refusal(equarx_sim({"hardware", "tpu-v4", "tpu-v5e"}), "see 'equarx-sim hardware --help'");
  check_refusal(equarx_sim({"hardware"}, {.output = "/dev/full"}),
                "cannot write to standard output");
}

TEST_CASE("errors in a hardware file have a pointer into the file") {
  json mine = json::parse(output_of(equarx_sim({"hardware", "tpu-v5e", "--json"})));
  mine["parameters"]["hop_latency"]["value"] = "1 GB";
  const TemporaryDirectory directory;
  const std::string path = directory.write("mine.json", mine.dump());
  const std::string message =
      "in " + path + ": /parameters/hop_latency/value: 'GB' is not a unit of a time";
  check_refusal(equarx_sim({"hardware", path}), message);
  check_refusal(equarx_sim({"run", kExample, "--set", "/hardware=" + path}),
                "/hardware: " + message);
}

}  // namespace
}  // namespace equarx::testing::hardware_test
