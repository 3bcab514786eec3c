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

TEST_CASE("advise prints one row per slice and chip") {
  const std::string table =
      output_of(equarx_sim(advise({"--slices", "2x2,4x2", "--chips", "tpu-v5e,tpu-v6e"})));
  CHECK_THAT(table, ContainsSubstring("tpu-v6e") && ContainsSubstring("2x2"));
  CHECK(std::ranges::count(table, '\n') >= 5);
  const auto json =
      nlohmann::json::parse(output_of(equarx_sim(advise({"--slices", "2x2,7x9", "--json"}))));
  CHECK(json["sites"].size() == 2);
  CHECK(json["sites"][1]["advice"].is_null());
}

TEST_CASE("advise rejects invalid limits, formats and machines") {
  check_refusal(equarx_sim(advise({"--min-sqnr", "30"})), "--min-sqnr: '30' is not a number of dB");
  check_refusal(equarx_sim(advise({"--min-sqnr", "200 dB"})),
                "no configuration is accurate enough");
  check_refusal(equarx_sim(advise({"--slices", "7x9"})), "can run");
  check_refusal(equarx_sim(advise({"--chips", "tpu-v99"})), "can run");
  check_refusal(equarx_sim(on_small_example("advise", {"--formats", "int9"})), "'int9'");
}

}  // namespace
}  // namespace equarx::testing::advise_test
