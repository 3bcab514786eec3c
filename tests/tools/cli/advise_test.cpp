#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::advise_test {
namespace {

std::vector<std::string> advise(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"--formats", "int8"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return on_small_example("advise", arguments);
}

TEST_CASE("advise prints a recommendation as text and as JSON") {
  CHECK_THAT(output_of(equarx_sim(advise({}))),
             ContainsSubstring("Quantize?") && ContainsSubstring("Configuration:"));
  const auto json = nlohmann::json::parse(output_of(equarx_sim(advise({"--json"}))));
  CHECK(json["limits"]["max_nmse"].get<double>() == Approx(1e-3));  // 30 dB
  CHECK(json["sizes"].size() > 5);
}

TEST_CASE("advise on an FP32 tensor names the type that it compares with") {
  const CommandResult done =
      equarx_sim(advise({"--set", "/tensor/dtype=fp32", "--set", "/collectives/0/format=fp32"}));
  CHECK(done.exit_code == 0);
  CHECK_THAT(done.out, ContainsSubstring("Compared with:     fp32, 4 bytes per element") &&
                           ContainsSubstring("\"dtype\": \"bf16\""));
  CHECK_THAT(done.err,
             Catch::Matchers::StartsWith("equarx-sim: warning: candidate 'bf16' runs in fp32"));
  CHECK(std::ranges::count(done.err, '\n') == 1);
  CHECK_THAT(output_of(equarx_sim(advise({}))), !ContainsSubstring("Compared with:"));
}

TEST_CASE("advise prints one row per slice and chip") {
  const std::string table =
      output_of(equarx_sim(advise({"--slices", "2x2,4x2", "--chips", "tpu-v5e,tpu-v6e"})));
  CHECK_THAT(table, ContainsSubstring("tpu-v6e") && ContainsSubstring("2x2"));
  CHECK(std::ranges::count(table, '\n') >= 5);
  const auto json = nlohmann::json::parse(output_of(
      equarx_sim(advise({"--slices", "v5e-4,2x2x1", "--chips", "v5e,tpu-v5p", "--json"}))));
  REQUIRE(json["sites"].size() == 4);
  CHECK(json["sites"][0]["chip"] == "tpu-v5e");
  CHECK(json["sites"][0]["topology"] == "2x2");
  CHECK(json["sites"][1]["advice"].is_null());  // v5e has no third axis
  CHECK(json["sites"][2]["advice"].is_null());
  CHECK_FALSE(json["sites"][3]["advice"].is_null());
}

TEST_CASE("advise rejects invalid limits, formats and machines") {
  check_refusal(equarx_sim(advise({"--min-sqnr", "30"})), "--min-sqnr: '30' is not a number of dB");
  check_refusal(equarx_sim(advise({"--min-sqnr", "200 dB"})),
                "no configuration is accurate enough");
  check_refusal(equarx_sim(advise({"--slices", "2x2,7x9"})),
                "error: --slices: tpu-v5e has no slice 7x9; ");
  check_refusal(equarx_sim(advise({"--slices", "2x2,foo"})), "error: --slices: \"foo\" is not the");
  check_refusal(equarx_sim(advise({"--chips", "tpu-v5e,foo"})),
                "error: --chips: 'foo' is not a known chip; use one of a100");
  check_refusal(equarx_sim(advise({"--chips", "tpu-v5e,tpu-v6"})),
                "error: --chips: 'tpu-v6' is not a known chip; did you mean 'tpu-v6e'?");
  check_refusal(equarx_sim(on_small_example("advise", {"--formats", "int9"})), "'int9'");
}

}  // namespace
}  // namespace equarx::testing::advise_test
