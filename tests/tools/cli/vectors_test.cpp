// The subcommand `vectors`.
#include <filesystem>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::vectors_command_test {
namespace {

constexpr const char* kConfig = R"({"hardware": "h100", "topology": {"switch": 4},
  "tensor": {"shape": [4096], "dtype": "bf16"},
  "collectives": [{"algorithm": "one-shot"}, {"algorithm": "ring"}]})";

}  // namespace

TEST_CASE("vectors writes a file per collective and case, and prints a table or JSON") {
  const TemporaryDirectory folder;
  const std::string path = folder.write("c.json", kConfig);
  const std::string output = (folder.path() / "v").string();
  CHECK_THAT(output_of(equarx_sim({"vectors", path, "-o", output})),
             ContainsSubstring("Golden vectors of 4 ranks"));
  CHECK(std::filesystem::exists(folder.path() / "v" / "manifest.json"));
  const input::Json json = input::parse_json(
      output_of(equarx_sim({"vectors", path, "-o", output, "--cases", "ties,zeros", "--json"})));
  CHECK(json["ranks"] == 4);
  CHECK(json["collectives"][1]["cases"] == input::Json::parse(R"(["ties", "zeros"])"));
  const std::string first = json["collectives"][0]["folder"];
  CHECK(std::filesystem::exists(folder.path() / "v" / first / "ties.safetensors"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "v" / first / "normal.safetensors"));
}

TEST_CASE("vectors refuses bad input, naming the place, and writes nothing") {
  const TemporaryDirectory folder;
  const std::string path = folder.write("c.json", kConfig);
  const std::string output = (folder.path() / "v").string();
  check_refusal(equarx_sim({"vectors", path}), "--output");
  check_refusal(equarx_sim({"vectors", path, "-o", output, "--cases", "tie"}),
                "did you mean 'ties'?");
  check_refusal(equarx_sim({"vectors", path, "-o", output, "--set", "/collective=all-gather",
                            "--unset", "/collectives/0"}),
                "/collective");
  check_refusal(equarx_sim({"vectors", path, "-o", output, "--set", "/topology/switch=65"}),
                "/topology");
  CHECK_FALSE(std::filesystem::exists(output));
  check_refusal(equarx_sim({"vectors", path, "-o", folder.path().string()}), "holds other files");
  check_refusal(equarx_sim({"vectors", path, "-o", path}), "not a writable folder");
}

}  // namespace equarx::testing::vectors_command_test
