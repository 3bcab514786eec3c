#include "experiments/tune_step/report.hpp"

#include "tests/catch.hpp"
#include "tests/experiments/tune_step/tuned_step.hpp"

namespace equarx::tune_step::report_test {
namespace {

TEST_CASE("the tables say what was tried, what was chosen, and what comes of it") {
  const StepTuneResult result = tuned(exposed_step(), with_formats({"int8", "bf16"}));
  const std::string text = to_table(result);
  CHECK_THAT(text,
             ContainsSubstring("Tuning a step. A step of 10 tasks") &&
                 ContainsSubstring("as it is, plain *") && ContainsSubstring("int8, 256 per") &&
                 ContainsSubstring("4 of AllReduce; exposed as it is: ") &&
                 ContainsSubstring("keeps an SQNR of 30.0 dB") &&
                 ContainsSubstring("Best, as \"quantize\" of a variant:") &&
                 ContainsSubstring(R"("where":{"collective":"all-reduce","group":"bucket"})"));
  const input::Json json = to_json(result, exposed_step());
  CHECK(json["variants"].size() == 2);
  CHECK(json["best_config"]["variants"].size() == 2);
  CHECK(json["best_config"]["baseline"] == "plain");
  CHECK(json["groups"][0]["calls"][0]["axes"][0] == "fsdp");
  CHECK(json["groups"][1]["ways"].size() == result.groups[1].ways.ways.size());
}

TEST_CASE("where nothing gains, the tables say so") {
  input::Json hidden = exposed_step();
  hidden["step"]["tasks"].erase(3);
  const StepTuneResult result = tuned(hidden, with_formats({"int8"}));
  CHECK_THAT(to_table(result), ContainsSubstring("Best: as it is."));
  CHECK(best_config(hidden, result)["variants"].size() == 1);
  tune::TuneOptions hurried = with_formats({"int8", "bf16"});
  hurried.budget_s = 1e-9;
  CHECK_THAT(to_table(tuned(exposed_step(), hurried)),
             ContainsSubstring("NOT FINISHED") && ContainsSubstring("Best so far: as it is."));
}

}  // namespace
}  // namespace equarx::tune_step::report_test
