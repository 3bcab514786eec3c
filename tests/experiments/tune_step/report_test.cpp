#include "experiments/tune_step/report.hpp"

#include "tests/catch.hpp"
#include "tests/experiments/tune_step/tuned_step.hpp"

namespace equarx::tune_step::report_test {
namespace {

TEST_CASE("tables and JSON contain candidates, choice and resulting step times") {
  const StepTuneResult result = tuned(exposed_step(), with_formats({"int8", "bf16"}));
  const std::string text = to_table(result);
  CHECK_THAT(text,
             ContainsSubstring("Tuning: Step of 10 tasks") &&
                 ContainsSubstring("baseline (unquantized) *") &&
                 ContainsSubstring("int8, 256 per") &&
                 ContainsSubstring("4 x AllReduce; exposed in the baseline: ") &&
                 ContainsSubstring("reaches an SQNR of 30.0 dB") &&
                 ContainsSubstring("Best, as \"quantize\" rules of a variant:") &&
                 ContainsSubstring(R"("where":{"collective":"all-reduce","group":"bucket"})"));
  const input::Json json = to_json(result, exposed_step());
  CHECK(json["variants"].size() == 2);
  CHECK(json["best_config"]["variants"].size() == 2);
  CHECK(json["best_config"]["baseline"] == "plain");
  CHECK(json["groups"][0]["calls"][0]["axes"][0] == "fsdp");
  CHECK(json["groups"][1]["ways"].size() == result.groups[1].candidates.list.size());
}

TEST_CASE("tables report when no candidate shortens the step or the budget ended") {
  input::Json hidden = exposed_step();
  hidden["step"]["tasks"].erase(3);
  const StepTuneResult result = tuned(hidden, with_formats({"int8"}));
  CHECK_THAT(to_table(result), ContainsSubstring("Best: the baseline."));
  CHECK(best_config(hidden, result)["variants"].size() == 1);
  tune::TuneOptions hurried = with_formats({"int8", "bf16"});
  hurried.budget_s = 1e-9;
  CHECK_THAT(to_table(tuned(exposed_step(), hurried)),
             ContainsSubstring("INCOMPLETE") && ContainsSubstring("Best so far: the baseline."));
}

}  // namespace
}  // namespace equarx::tune_step::report_test
