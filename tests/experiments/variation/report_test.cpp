#include "experiments/variation/report.hpp"

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/variation/formulas.hpp"

namespace equarx::variation::report_test {
namespace {

TEST_CASE("a table of sensitivities names the parameters without effect") {
  const Sensitivity visible{
      "hop_latency", 1e-6, "1 us", hardware::Provenance::assumed, 0.1, {{0.5, 0.0}, {0.25, 0.25}}};
  Sensitivity invisible = visible;
  invisible.parameter = "vector_rate";
  invisible.runs = {{0.0, 0.0}, {0.0001, 0.0}};
  const std::string table = sensitivity_table({visible, invisible}, {"bf16", "int8"}, 0);
  CHECK_THAT(table, Catch::Contains("time of int8"));
  CHECK_THAT(table, Catch::Contains("+0.250"));
  CHECK_THAT(table, Catch::Contains("No effect: vector_rate."));
  CHECK(sensitivity_table({}, {}, 0).empty());
  const input::Json json = to_json(std::vector{visible}, {"bf16", "int8"});
  CHECK(json[0]["runs"][1] == input::Json{{"label", "int8"}, {"time", 0.25}, {"speedup", 0.25}});
}

TEST_CASE("the note gives the number of uncertain parameters, of the network too") {
  config::MachineParameters machine = testing::exact_machine();
  CHECK_THAT(trust_note({accuracy::Question::schedule, "h100", 8, 0}, machine, 10, std::nullopt),
             Catch::Contains("no parameter of the hardware file has an uncertainty"));
  machine.network->latency.standard_error = 1e-6;
  CHECK_THAT(trust_note({accuracy::Question::schedule, "h100", 8, 0}, machine, 10, std::nullopt),
             Catch::Contains("a collective fails"));
  CHECK_THAT(trust_note({accuracy::Question::schedule, "h100", 8, 0}, machine, 10,
                        Uncertainty{.samples = 9, .time_s = {}, .speedup = {}}),
             Catch::Contains("uncertainty of 1 parameters, n = 9.") &&
                 Catch::Contains("Error of the model in imported schedules: unknown"));
  CHECK_THAT(trust_note({accuracy::Question::schedule, "h100", 8, 0}, machine, 0, std::nullopt),
             !Catch::Contains("68 % interval"));
}

}  // namespace
}  // namespace equarx::variation::report_test
