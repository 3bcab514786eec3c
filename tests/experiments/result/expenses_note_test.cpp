#include "experiments/result/expenses_note.hpp"

#include <fmt/format.h>

#include "tests/catch.hpp"
#include "tests/support/step_runs.hpp"
#include "tests/support/steps.hpp"

namespace equarx::result::expenses_note_test {
namespace {

using testing::run_step;

/// The step on a chip with these parameters.
input::Json on(input::Json step, const input::Json& parameters) {
  input::Json hardware = {{"based_on", step["hardware"]}};
  hardware.update(parameters);
  step["hardware"] = hardware;
  return step;
}

TEST_CASE("serving has a cost per million tokens") {
  const auto result = run_step(on(testing::good_serving(), {{"price", "$2/h"}}));
  const double dollars = *result.runs.front().expenses.dollars;
  CHECK(dollars == Approx(2.0 * 16.0 * result.runs.front().time_s / 3600.0));
  // Eight sequences in each of four groups.
  CHECK(expenses_note(result) ==
        fmt::format("  Cost per 1e6 tokens at $2/h per chip: ${:.4g}.\n", dollars / 32.0 * 1e6));
}

TEST_CASE("training has the cost of a whole run, without an exponent") {
  const auto result = run_step(on(testing::good_training(), {{"price", "$2/h"}}));
  const double dollars = *result.runs.front().expenses.dollars / (8.0 * 512.0) * 1e12;
  const double rounded = std::stod(fmt::format("{:.4g}", dollars));
  CHECK(rounded > 1e4);
  CHECK(expenses_note(result) ==
        fmt::format("  Cost per 1e12 tokens at $2/h per chip: ${:.0f}.\n", rounded));
}

TEST_CASE("other steps have a cost per step, for each variant") {
  const std::string note = expenses_note(run_step(testing::good_step()));
  CHECK_THAT(note, Catch::Matchers::StartsWith("  Cost per step at $1.2/h per chip: $"));
  CHECK_THAT(note,
             ContainsSubstring(" with bf16, $") && Catch::Matchers::EndsWith(" with int8.\n"));
}

TEST_CASE("an energy names its model and what it lacks") {
  const input::Json powers = {{"power_idle", "50 W"}, {"power_busy", "150 W"}};
  CHECK_THAT(expenses_note(run_step(on(testing::good_serving(), powers))),
             ContainsSubstring("  Energy per token, model \"busy\": ") &&
                 Catch::Matchers::EndsWith("J.\n"));
  const input::Json energies = {{"energy_bf16", "0.3 pJ/op"},
                                {"energy_fp32", "2 pJ/op"},
                                {"energy_int8", "0.1 pJ/op"},
                                {"energy_hbm", "30 pJ/B"}};
  CHECK_THAT(
      expenses_note(run_step(on(testing::good_step(), energies))),
      ContainsSubstring("  Energy per step, model \"operations\", without idle power, vector "
                        "operations, VMEM, links, host transfers, tasks given as a time: "));
}

TEST_CASE("an energy limited by the busy power is named") {
  const input::Json parameters = {{"energy_bf16", "1 nJ/op"},
                                  {"energy_fp32", "1 nJ/op"},
                                  {"energy_int8", "1 nJ/op"},
                                  {"energy_hbm", "1 nJ/B"},
                                  {"power_busy", "100 W"}};
  const auto result = run_step(on(testing::good_serving(), parameters));
  CHECK_THAT(expenses_note(result), ContainsSubstring("\"operations\", limited by power_busy"));
  CHECK(result.runs.front().expenses.energy->joules ==
        Approx(100.0 * 16.0 * result.runs.front().time_s));
}

TEST_CASE("a chip without price and powers has no note") {
  input::Json json = testing::good_step();
  json["hardware"] = "tpu-v7";
  CHECK(expenses_note(run_step(json)).empty());
}

}  // namespace
}  // namespace equarx::result::expenses_note_test
