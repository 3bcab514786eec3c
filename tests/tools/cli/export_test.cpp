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

}  // namespace
}  // namespace equarx::testing::export_test
