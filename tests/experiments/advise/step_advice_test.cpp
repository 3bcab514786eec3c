#include "experiments/advise/step_advice.hpp"

#include "experiments/advise/step_report.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/step/run.hpp"
#include "tests/experiments/advise/advising.hpp"
#include "tests/support/errors.hpp"

namespace equarx::advise::step_advice_test {
namespace {

using variation::Verdict;

/// An exposed bucket of 32 MiB, and an exchange of 1 KiB and a sum of 4 KiB, which quantization
/// slows down.
input::Json step_of_three() {
  return input::parse_json(R"({
    "hardware": "tpu-v5e",
    "topology": {"torus": "4x4"},
    "mesh": {"data": 4, "fsdp": 4},
    "uncertainty": {"samples": 20},
    "step": {"tasks": [
      {"name": "exchange", "collective": {"kind": "all-to-all", "axes": ["fsdp"], "bytes": "1 KiB"}},
      {"name": "tiny", "after": ["exchange"],
       "collective": {"kind": "all-reduce", "axes": ["data"], "bytes": "4 KiB"}},
      {"name": "bucket", "after": ["tiny"],
       "collective": {"kind": "all-reduce", "axes": ["data"], "bytes": "32 MiB"}}]}})");
}

StepAdvice advice_of(const input::Json& json, double sqnr_db = 30.0) {
  return advise_step(config::read_step_config(json), at_least(sqnr_db), [](const std::string&) {});
}

TEST_CASE("each group of a step gets a verdict, and the step the whole one") {
  const StepAdvice advice = advice_of(step_of_three());
  REQUIRE(advice.groups.size() == 3);
  CHECK(advice.verdict == Verdict::yes);
  CHECK(advice.groups[0].verdict == Verdict::no);
  CHECK(advice.groups[0].speedup <= 1.0);
  CHECK(advice.groups[1].verdict == Verdict::no);
  CHECK(advice.groups[1].speedup <= 1.0);
  const GroupAdvice& bucket = advice.groups[2];
  CHECK(bucket.verdict == Verdict::yes);
  CHECK(bucket.share == Approx(32768.0 / 32773.0));
  REQUIRE(bucket.interval);
  CHECK(bucket.interval->low > 1.0);
  CHECK(bucket.interval->low <= bucket.interval->high);
  CHECK(bucket.break_even.value() > 4096);
  CHECK(bucket.break_even.value() < (32U << 20));
  // Only one group is quantized, so its gain is that of the step.
  CHECK(bucket.speedup == Approx(advice.speedup()).epsilon(1e-12));
  CHECK(bucket.interval->low ==
        Approx(advice.confidence.uncertainty.value().speedup.low).epsilon(1e-12));
  CHECK(advice.worst_nmse == bucket.candidate.value().nmse);
  CHECK(advice.mean_nmse <= advice.worst_nmse);
}

TEST_CASE("a large exchange is quantized, though nothing is summed") {
  input::Json json = step_of_three();
  json["step"]["tasks"][0]["collective"]["bytes"] = "1 MiB";
  const GroupAdvice exchange = advice_of(json).groups[0];
  CHECK(exchange.verdict == Verdict::yes);
  CHECK(exchange.speedup > 1.0);
  CHECK(exchange.candidate.value().nmse > 0.0);
}

TEST_CASE("the advised rules reproduce the advised time") {
  const StepAdvice advice = advice_of(step_of_three());
  input::Json json = step_of_three();
  json["variants"] = config::variants_json(advice.compared.config);
  json["baseline"] = "plain";
  json.erase("uncertainty");
  const step::StepResult run =
      step::run_step(step::make_plan(config::read_step_config(json)), [](const std::string&) {});
  REQUIRE(run.runs.size() == 2);
  CHECK(run.runs[0].time_s == advice.compared.runs[0].time_s);
  CHECK(run.runs[1].time_s == advice.compared.runs[1].time_s);
}

TEST_CASE("a configured variant does not change the reference") {
  input::Json json = step_of_three();
  json["variants"] = input::parse_json(
      R"([{"label": "own", "quantize": [{"where": {"group": "bucket"}, "format": "int8",
                                         "elements_per_scale": 64}]}])");
  CHECK(advice_of(json).speedup() == advice_of(step_of_three()).speedup());
}

TEST_CASE("a step without a gain is advised against") {
  input::Json json = step_of_three();
  json["step"]["tasks"].erase(2);
  const StepAdvice advice = advice_of(json);
  CHECK(advice.verdict == Verdict::no);
  CHECK(advice.compared.runs.size() == 1);
  CHECK(advice.speedup() == 1.0);
  CHECK_THAT(to_text(advice), Catch::Contains("no configuration within the limits"));
}

TEST_CASE("a limit that the unquantized step misses is refused") {
  testing::check_refused([] { advice_of(step_of_three(), 200.0); }, "--max-nmse",
                         "is accurate enough");
}

TEST_CASE("without a candidate within the limits, the group names the limit") {
  const StepAdvice advice = advice_of(step_of_three(), 45.0);
  CHECK(advice.verdict == Verdict::no);
  CHECK(advice.groups[2].verdict == Verdict::no);
  CHECK_THAT(advice.groups[2].reason, Catch::Contains("limits"));
}

TEST_CASE("a step without collectives is refused") {
  input::Json json = step_of_three();
  json["step"]["tasks"] = input::parse_json(R"([{"name": "a", "compute": {"time": "1 us"}}])");
  testing::check_refused([&] { advice_of(json); }, "/step", "has no collective");
}

TEST_CASE("the text has the lines of a collective's advice") {
  const std::string text = to_text(advice_of(step_of_three()));
  for (const char* name : {"Quantize?", "bucket: yes: ", "Time:", "68 % interval:", "Error:",
                           "Perplexity:", "break-even", "Most sensitive to:", "Rules:"})
    CHECK_THAT(text, Catch::Contains(name));
  CHECK_THAT(text, !Catch::Contains("To settle it:"));
}

TEST_CASE("JSON has the compared steps, and the advice for each group") {
  const input::Json json = to_json(advice_of(step_of_three()));
  CHECK(json["runs"].size() == 2);
  CHECK(json["advice"]["quantize"] == "yes");
  CHECK(json["advice"]["groups"][2]["step_speedup_low"].get<double>() > 1.0);
  CHECK(json["advice"]["groups"][0]["quantize"] == "no");
}

}  // namespace
}  // namespace equarx::advise::step_advice_test
