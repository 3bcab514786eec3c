#include <nlohmann/json.hpp>

#include "base/input/json_text.hpp"
#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::kernels_test {
namespace {

using nlohmann::json;

TEST_CASE("kernels prints the times of a list, and writes them for accuracy") {
  const TemporaryDirectory folder;
  const std::string list =
      folder.write("list.csv", "kernel,m,k,n,time\ngemm,4096,4096,4096,300 us\n");
  const std::string study = (folder.path() / "study.json").string();
  const std::vector<std::string> command = {"kernels", list, "--hardware", "h100"};
  CHECK_THAT(output_of(equarx_sim(command)), ContainsSubstring("1 kernels on h100"));
  std::vector<std::string> written = command;
  written.insert(written.end(), {"--origin", "a lab", "-o", study, "--json"});
  const json printed = json::parse(output_of(equarx_sim(written)));
  CHECK(printed["rows"][0]["origin"] == "a lab");
  CHECK(json::parse(input::read_file(study)) == printed);
  CHECK_THAT(output_of(equarx_sim({"accuracy", study})),
             ContainsSubstring("GEMMs, passes and attention of GPUs"));
}

TEST_CASE("kernels rejects other chips, files and overheads") {
  const TemporaryDirectory folder;
  const std::string list = folder.write("list.jsonl", R"({"kernel": "pass", "bytes": 1024})");
  check_refusal(equarx_sim({"kernels", list, "--hardware", "h1000"}), "--hardware");
  check_refusal(equarx_sim({"kernels", folder.write("list.txt", "x"), "--hardware", "h100"}),
                "name a .jsonl or .csv file");
  check_refusal(equarx_sim({"kernels", list, "--hardware", "h100", "--timer-overhead", "3 GB"}),
                "--timer-overhead");
  check_refusal(equarx_sim({"kernels", list, "--hardware", "h100", "-o", list}), "list.jsonl");
}

}  // namespace
}  // namespace equarx::testing::kernels_test
