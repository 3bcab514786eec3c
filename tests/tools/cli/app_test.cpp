#include <regex>
#include <sstream>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::app_test {
namespace {

using nlohmann::json;

TEST_CASE("run prints a table") {
  const std::string table = output_of(equarx_sim(on_small_example("run")));
  CHECK_THAT(table, Catch::Matchers::StartsWith("AllReduce of 128.0 KiB of bf16 on each of 8 x "
                                                "tpu-v5e, slice 4x2\n"));
  CHECK_THAT(table, ContainsSubstring("\n  bf16 ") && ContainsSubstring("\n  full-loop ") &&
                        ContainsSubstring("1.000x") && ContainsSubstring("Lower bound: "));
}

TEST_CASE("run --verbose also prints tiling, symmetry, engine and busiest links") {
  const std::string brief = output_of(equarx_sim(on_small_example("run")));
  const std::string verbose = output_of(equarx_sim(on_small_example("run", {"--verbose"})));
  for (const std::string detail : {"\n  Tiling: ", "\n  Exploiting symmetry: ", "\n  Engine: ",
                                   "\n  Busiest link directions", "identical"}) {
    CAPTURE(detail);
    CHECK_THAT(brief, !ContainsSubstring(detail));
    CHECK_THAT(verbose, ContainsSubstring(detail));
  }
  CHECK(output_of(equarx_sim(on_small_example("run", {"-v"}))) == verbose);
}

TEST_CASE("run --json prints exactly one JSON object with the documented keys") {
  const json result = json::parse(output_of(equarx_sim(on_small_example("run", {"--json"}))));
  REQUIRE(result["runs"].size() == 2);
  CHECK(result["runs"][0]["label"] == "bf16");
  CHECK(result["runs"][1]["label"] == "full-loop");
  for (const json& run : result["runs"]) {
    for (const std::string key : {"label", "time_s", "speedup", "lower_bound_s",
                                  "wire_bytes_per_link", "chips", "simulation", "numerics"})
      CHECK(run.contains(key));
    for (const std::string key : {"mse", "nmse", "sqnr_db", "mse_vs_baseline", "ranks_identical"})
      CHECK(run["numerics"].contains(key));
    CHECK(run["time_s"].get<double>() >= run["lower_bound_s"].get<double>());
    CHECK(run["chips"] == 8);
    CHECK(run["simulation"] == "symmetric");
    CHECK(run["numerics"]["ranks_identical"] == true);
  }
  CHECK(result["runs"][0]["speedup"] == 1.0);
  for (const std::string key : {"program", "version", "config", "config_hash", "parameters"})
    CHECK(result.contains(key));
}

TEST_CASE("two runs print the same bytes") {
  const std::string once = output_of(equarx_sim(on_small_example("run", {"--json"})));
  CHECK(output_of(equarx_sim(on_small_example("run", {"--json"}))) == once);
}

TEST_CASE("the output of show runs to the same result") {
  const std::string shown = output_of(equarx_sim(on_small_example("show")));
  CHECK(json::parse(shown)["collectives"][1]["quantize"] == "both");
  const TemporaryDirectory directory;
  const std::string path = directory.write("shown.json", shown);
  CHECK(output_of(equarx_sim({"show", path})) == shown);
  CHECK(output_of(equarx_sim({"run", path, "--json"})) ==
        output_of(equarx_sim(on_small_example("run", {"--json"}))));
  CHECK(output_of(equarx_sim({"show", "/dev/stdin"}, {.input = shown})) == shown);
}

TEST_CASE("validate accepts a valid configuration without running it") {
  CHECK(output_of(equarx_sim({"validate", kExample})) == kExample + ": valid\n");
}

TEST_CASE("options may precede or follow the configuration") {
  const std::string after = output_of(equarx_sim({"show", kExample, "--set", "/numerics=off"}));
  CHECK(output_of(equarx_sim({"show", "--set", "/numerics=off", kExample})) == after);
  CHECK(output_of(equarx_sim({"show", "--set=/numerics=off", kExample})) == after);
}

TEST_CASE("later overrides win, and values may contain equals signs and spaces") {
  const json shown = json::parse(
      output_of(equarx_sim({"show", kExample, "--set", "/tensor/bytes=1 MiB", "--set",
                            "/tensor/bytes=2 MiB", "--set", "/collectives/1/label=a = b"})));
  CHECK(shown["tensor"]["bytes"] == "2 MiB");
  CHECK(shown["collectives"][1]["label"] == "a = b");
}

TEST_CASE("option --unset removes keys before --set sets others") {
  const json shown = json::parse(
      output_of(equarx_sim({"show", kExample, "--set", "/topology/mesh=4X2", "--unset", "/baseline",
                            "--unset", "/topology", "--unset=/collectives/0"})));
  CHECK(shown["topology"] == json{{"mesh", "4x2"}});
  CHECK(shown["baseline"] == "full-loop");
  for (const std::string command : {"run", "show", "validate", "tune", "advise", "topology"})
    check_refusal(equarx_sim({command, kExample, "--unset", "/baselin"}),
                  kExample + ": --unset /baselin: is not set; did you mean 'baseline'?");
  check_refusal(equarx_sim({"sweep", EQUARX_CONFIGS_DIR "/sweeps/size_and_slice.json", "--unset",
                            "/baselin"}),
                "--unset /baselin: is not set");
  check_refusal(equarx_sim({"show", kExample, "--set", "/baseline=null"}),
                "--set /baseline=null: no key takes null; remove it by --unset /baseline");
}

TEST_CASE("help prints the help of the program or a subcommand") {
  CHECK(output_of(equarx_sim({"help"})) == output_of(equarx_sim({"--help"})));
  CHECK(output_of(equarx_sim({"help", "run"})) == output_of(equarx_sim({"run", "--help"})));
  check_refusal(equarx_sim({"help", "rum"}), "unknown subcommand 'rum'; did you mean 'run'?");
  const CommandResult unknown = equarx_sim({"foo"});
  check_refusal(unknown, "unknown subcommand 'foo'; use one of run, show, ");
  CHECK_THAT(unknown.err, !ContainsSubstring("answer"));
}

TEST_CASE("the result contains the simulation mode") {
  for (const std::string mode : {"full", "symmetric"}) {
    const json result = json::parse(
        output_of(equarx_sim(on_small_example("run", {"--json", "--set", "/simulation=" + mode}))));
    CHECK(result["runs"][0]["simulation"] == mode);
  }
}

TEST_CASE("option --version prints program and version") {
  CHECK(std::regex_match(output_of(equarx_sim({"--version"})),
                         std::regex("equarx-sim [0-9]+\\.[0-9]+\\.[0-9]+"
                                    "(\\+g[0-9a-f]{7}(\\.dirty\\.[0-9a-f]{8})?)?\n")));
}

TEST_CASE("option --help lists every command, examples and exit codes") {
  const std::string help = output_of(equarx_sim({"--help"}));
  for (const std::string part :
       {"run", "show", "validate", "hardware", "topology", "reproduce", "quantize", "sweep",
        "report", "--version", "Examples:", "equarx-sim run configs/experiments/", "Exit codes:"})
    CHECK_THAT(help, ContainsSubstring(part));
  for (const std::string command : {"run", "show", "validate"})
    CHECK_THAT(output_of(equarx_sim({command, "--help"})),
               ContainsSubstring("CONFIG") && ContainsSubstring("--set"));
}

TEST_CASE("the examples of --help can be run from the repository") {
  const std::string help = output_of(equarx_sim({"--help"}));
  std::istringstream lines(help);
  std::size_t examples = 0;
  const std::string folder = "configs/";
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find(folder);
    if (begin == std::string::npos) continue;
    const std::size_t name = begin + folder.size();
    const std::string file = line.substr(name, line.find(' ', name) - name);
    CHECK(std::filesystem::exists(std::filesystem::path(EQUARX_CONFIGS_DIR) / file));
    ++examples;
  }
  CHECK(examples >= 3);
}

}  // namespace
}  // namespace equarx::testing::app_test
