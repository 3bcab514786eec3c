#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::export_test {
namespace {

const std::string kConfig =
    std::string(EQUARX_CONFIGS_DIR) + "/experiments/allreduce_mi300x_8.json";

std::vector<std::string> export_of(const std::string& algorithm,
                                   const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {
      "export",
      "msccl",
      kConfig,
      "--set",
      "/tensor/dtype=fp32",
      "--set",
      "/baseline=x",
      "--set",
      R"(/collectives=[{"label": "x", "algorithm": ")" + algorithm + "\"}]"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

nlohmann::json timed(const std::string& file) {
  return nlohmann::json::parse(
      output_of(equarx_sim({"import", "msccl", file, "--topology", "fully-connected:8", "--bytes",
                            "16 MiB", "--json"})));
}

TEST_CASE("an exported schedule imports with the algorithm's bytes") {
  const TemporaryDirectory directory;
  const std::string file = (directory.path() / "x.xml").string();
  CHECK(output_of(equarx_sim(export_of("two-shot", {"-o", file}))).empty());
  const nlohmann::json json = timed(file);
  CHECK(json["check"]["compared"] == true);
  CHECK(json["schedule"]["name"] == "x");
  // Two phases, an eighth per pair of ranks.
  CHECK(json["busiest_link"]["bytes"] == 2 * 16 * 1024 * 1024 / 8);
  const std::string printed = output_of(equarx_sim(export_of("two-shot", {})));
  std::ifstream written(file);
  CHECK(printed == std::string(std::istreambuf_iterator<char>(written), {}));
}

TEST_CASE("export writes the first exportable collective or the named one") {
  const std::string text = output_of(equarx_sim({"export", "msccl", kConfig}));
  CHECK_THAT(text, ContainsSubstring("name=\"fp16\""));
  check_refusal(
      equarx_sim({"export", "msccl", kConfig, "--collective", "int8"}),
      "'int8' cannot be exported to MSCCL: it sends a format other than the tensor's, fp16");
  check_refusal(equarx_sim({"export", "msccl", kConfig, "--collective", "none"}),
                "--collective: 'none' is unknown; use one of fp16, fp8");
}

TEST_CASE("export rejects invalid input in one line and leaves no file") {
  const TemporaryDirectory directory;
  const std::string none = (directory.path() / "none.xml").string();
  check_refusal(equarx_sim({"export", "hlo", kConfig}), "unknown export format 'hlo'");
  check_refusal(equarx_sim(export_of("equarx", {"-o", none})),
                "'x' cannot be exported to MSCCL: it sends a format other than");
  check_refusal(equarx_sim(export_of("ring", {"--set", "/collective=all-gather", "-o", none})),
                "is not a correct allgather, in place: rank 0, chunk ");
  check_refusal(equarx_sim(export_of("two-shot", {"-o", kConfig})), "allreduce_mi300x_8");
  CHECK_FALSE(std::filesystem::exists(none));
}

TEST_CASE("tables have a row for every size and number of ranks") {
  const std::vector<std::string> table = {"export",          "csv",     kConfig,
                                          "--collective",    "fp16",    "--bytes",
                                          "64 KiB..256 KiB", "--ranks", "2,8"};
  const std::string text = output_of(equarx_sim(table));
  CHECK(std::ranges::count(text, '\n') == 7);
  CHECK_THAT(text, Catch::Matchers::StartsWith("collective,dtype,format,algorithm,"));
  CHECK_THAT(text, ContainsSubstring("\nall-reduce,fp16,fp16,"));
  const TemporaryDirectory directory;
  const std::string file = (directory.path() / "x.csv").string();
  std::vector<std::string> to_file = table;
  to_file.insert(to_file.end(), {"-o", file});
  CHECK(output_of(equarx_sim(to_file)).empty());
  CHECK(content_of(file) == text);
}

TEST_CASE("tables of slices have all chips, and note rows that cannot run") {
  const CommandResult result =
      equarx_sim({"export", "nccl-perf", kExample, "--collective", "full-loop", "--bytes", "1 MiB",
                  "--collectives", "all-reduce,all-to-all"});
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.err, ContainsSubstring("1 of 2 rows cannot run"));
  CHECK_THAT(result.out, ContainsSubstring(",tpu-v5e,all_reduce,equarx,half,8,524288,"));
}

TEST_CASE("options of tables are refused elsewhere, and wrong ones name the option") {
  const auto refused = [](const std::string& kind, const std::vector<std::string>& more,
                          const std::string& part) {
    std::vector<std::string> arguments = {"export", kind, kConfig};
    arguments.insert(arguments.end(), more.begin(), more.end());
    check_refusal(equarx_sim(arguments), part);
  };
  refused("msccl", {"--bytes", "1 MiB"}, "--bytes: applies to tables only");
  refused("chakra", {"--ranks", "2"}, "--ranks: applies to tables only");
  refused("csv", {"--device", "sm_90"}, "--device: applies to export xla only");
  refused("csv", {"--bytes", "1 MiB..2"}, "--bytes: ");
  refused("csv", {"--ranks", "1"}, "--ranks: '1'");
  refused("csv", {"--collectives", "sum"}, "--collectives: ");
  refused("csv", {"--collective", "none"}, "--collective: 'none' is unknown");
  refused("xla", {"--bytes", "1 MiB"}, "--collective: XLA's table has one row per size");
  check_refusal(equarx_sim({"export", "csv", kExample, "--ranks", "4", "--bytes", "1 MiB"}),
                "ranks: slice 4x2 has 8 chips and no groups of 4");
}

}  // namespace
}  // namespace equarx::testing::export_test
