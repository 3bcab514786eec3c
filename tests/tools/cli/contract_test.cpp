// The subcommand `contract`.
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::contract_command_test {
namespace {

constexpr const char* kConfig = R"({"hardware": "h100", "topology": {"switch": 4},
  "tensor": {"shape": [4096], "dtype": "bf16"},
  "collectives": [{"algorithm": "one-shot"}, {"algorithm": "ring"}]})";

}  // namespace

TEST_CASE("contract prints tables, or JSON") {
  const TemporaryDirectory folder;
  const std::string path = folder.write("c.json", kConfig);
  CHECK_THAT(output_of(equarx_sim({"contract", path, "--quick"})),
             ContainsSubstring("ULP from the exact sum"));
  const input::Json json =
      input::parse_json(output_of(equarx_sim({"contract", path, "--quick", "--json"})));
  CHECK(json["chips"] == 4);
  CHECK(json["collectives"][0]["path"]["text"] == "1 x bf16");
  CHECK(json["collectives"][0]["path"]["conversions"] == 1);
  CHECK(json["collectives"][1]["path"]["conversions"] == 3);
}

TEST_CASE("contract draws a picture, or refuses it before computing anything") {
  const TemporaryDirectory folder;
  const std::string path = folder.write("c.json", kConfig);
  const std::string picture = (folder.path() / "picture.svg").string();
  output_of(equarx_sim({"contract", path, "--quick", "--plot", picture}));
  // In SVG files matplotlib writes each text in a comment.
  CHECK_THAT(content_of(picture), ContainsSubstring("<!-- 9 or more ULP -->") &&
                                      ContainsSubstring("switch 4") &&
                                      ContainsSubstring("<!-- 3 x bf16 -->"));
  check_refusal(equarx_sim({"contract", path, "--plot", "a.jpg"}),
                "--plot: the name a.jpg does not end in .svg, .png or .pdf");
  check_refusal(equarx_sim({"contract", path, "--plot", "/nowhere/a.svg"}), "/nowhere/a.svg");
  const std::string config = folder.write("config.svg", kConfig);
  check_refusal(equarx_sim({"contract", config, "--plot", config}), "it is an input");
}

TEST_CASE("contract refuses what has no contract, naming the place") {
  const TemporaryDirectory folder;
  const std::string path = folder.write("c.json", kConfig);
  check_refusal(equarx_sim({"contract", path, "--set", "/collective=all-gather", "--unset",
                            "/collectives/0", "--quick"}),
                "/collective");
  check_refusal(equarx_sim({"contract", path, "--set", "/tensor/sample=0.5"}), "/tensor/sample");
  check_refusal(equarx_sim({"contract", (folder.path() / "none.json").string()}), "none.json");
}

}  // namespace equarx::testing::contract_command_test
