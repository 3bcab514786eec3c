#include "experiments/tune_step/tune.hpp"

#include "experiments/step/run.hpp"
#include "experiments/tune_step/report.hpp"
#include "experiments/tune_step/search.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tune_step/tuned_step.hpp"
#include "tests/support/errors.hpp"

namespace equarx::tune_step::tune_test {
namespace {

const TunedGroup& group(const StepTuneResult& result, const std::string& name) {
  for (const TunedGroup& one : result.groups)
    if (one.group.name == name) return one;
  FAIL("no such group");
  return result.groups.front();
}

double cost_s(const StepTuneResult& result) {
  const std::vector<step::VariantResult>& steps = result.step.runs;
  return steps.back().time_s +
         kLeastGain * static_cast<double>(steps.size() - 1) * steps.front().time_s;
}

TEST_CASE("an exposed collective is quantized, and a hidden one keeps its baseline") {
  const StepTuneResult result = tuned(exposed_step(), with_formats({"int8", "bf16"}));
  CHECK(group(result, "gather").chosen == 0);
  const TunedGroup& bucket = group(result, "bucket");
  REQUIRE(bucket.chosen > 0);
  CHECK(bucket.candidates.list[bucket.chosen].collectives.front().format.name == "int8");
  CHECK(bucket.exposed_s > 0.0);
  REQUIRE(result.step.runs.size() == 2);
  CHECK(result.step.runs.back().label == "tuned");
  CHECK(result.step.runs.back().speedup > 1.15);
  CHECK(*bucket.only_s[bucket.chosen] == result.step.runs.back().time_s);
  CHECK(*bucket.only_s.front() == result.step.runs.front().time_s);
  CHECK(result.finished);
}

TEST_CASE("the best choice is that of a tuned step, without results") {
  for (const bool hidden : {false, true}) {
    input::Json json = exposed_step();
    if (hidden) json["step"]["tasks"][1]["compute"]["time"] = "1 s";
    const tune::TuneOptions options = with_formats({"int8", "bf16"});
    const StepTuneResult best =
        find_best(config::read_step_config(json), options, [](const std::string&) {});
    const StepTuneResult all = tuned(json, options);
    CHECK(best.step.runs.empty());
    REQUIRE(best.groups.size() == all.groups.size());
    for (std::size_t i = 0; i < all.groups.size(); ++i)
      CHECK(best.groups[i].chosen == all.groups[i].chosen);
    CHECK(best.step.config.variants.back().label == all.step.config.variants.back().label);
    CHECK(best.step.config.variants.size() <= 2);
  }
}

TEST_CASE("the best configuration reproduces the tuned step times") {
  input::Json with_rule = exposed_step();
  with_rule["variants"] = input::Json::parse(
      R"([{"label": "other"}, {"label": "tuned", "quantize": [{"where": {"group": "gather"}, "format": "int8"}]}])");
  with_rule["baseline"] = "tuned";
  for (const input::Json& json : {exposed_step(), with_rule}) {
    const StepTuneResult result = tuned(json, with_formats({"int8", "bf16"}));
    const config::StepConfig best = config::read_step_config(best_config(json, result));
    const step::StepResult run = step::run_step(step::make_plan(best), [](const std::string&) {});
    REQUIRE(run.runs.size() == result.step.runs.size());
    for (std::size_t i = 0; i < run.runs.size(); ++i) {
      CHECK(run.runs[i].label == result.step.runs[i].label);
      CHECK(run.runs[i].time_s == result.step.runs[i].time_s);
      CHECK(run.runs[i].speedup == result.step.runs[i].speedup);
    }
  }
}

TEST_CASE("exhaustive search finds no better choice than coordinate descent") {
  input::Json json = exposed_step();
  json["step"]["tasks"][0]["collective"]["bytes"] = "64 MiB";  // exposed as well
  tune::TuneOptions options = with_formats({"int8", "mxfp8-e4m3", "bf16"});
  const StepTuneResult found = tuned(json, options);
  options.exhaustive = true;
  const StepTuneResult all = tuned(json, options);
  CHECK(all.simulated == all.combinations);
  CHECK(found.simulated < all.simulated);
  CHECK(cost_s(found) == Approx(cost_s(all)).epsilon(1e-9));
}

TEST_CASE("collectives within slices, between slices and of other kinds are tuned together") {
  const input::Json json = input::Json::parse(R"({
    "hardware": "tpu-v5e",
    "topology": {"slice": "2x2", "network": {"slices": 2, "bandwidth": "5 GB/s", "latency": "10 us"}},
    "mesh": {"data": 2, "fsdp": 4},
    "step": {"tasks": [
      {"name": "all", "collective": {"kind": "all-reduce", "axes": ["data", "fsdp"], "bytes": "4 MiB"}},
      {"name": "between", "collective": {"kind": "all-reduce", "axes": ["data"], "bytes": "2 MiB"}},
      {"name": "moved", "collective": {"kind": "all-to-all", "axes": ["fsdp"], "bytes": "1 MiB"}},
      {"name": "end", "after": ["all", "between", "moved"], "compute": {"time": "1 us"}}]}
  })");
  const StepTuneResult result = tuned(json, with_formats({"int8", "bf16"}));
  CHECK(result.groups.size() == 3);
  CHECK(group(result, "moved").candidates.list.size() > 1);
  CHECK(group(result, "between").candidates.list.size() > 1);
  CHECK(result.step.runs.back().speedup > 1.0);
}

TEST_CASE("an exhausted budget ends the search, and the result reports it") {
  tune::TuneOptions options = with_formats({"int8", "bf16"});
  options.budget_s = 1e-9;
  const StepTuneResult result = tuned(exposed_step(), options);
  CHECK_FALSE(result.finished);
  CHECK(result.step.runs.size() == 1);
}

TEST_CASE("options and steps that cannot be tuned are rejected") {
  tune::TuneOptions timed;
  timed.limits.max_time_s = 1e-3;
  testing::check_refused([&] { tuned(exposed_step(), timed); }, "--max-time", "remove it");
  tune::TuneOptions promised;
  promised.promises = {contract::Promise::one_rounding};
  testing::check_refused([&] { tuned(exposed_step(), promised); }, "--contract",
                         "is for a single collective");
  input::Json alone = exposed_step();
  alone["step"]["tasks"] = input::Json::parse(R"([{"name": "a", "compute": {"time": "1 ms"}}])");
  testing::check_refused([&] { tuned(alone, {}); }, "/step", "no collective");
  testing::check_refused([&] { tuned(exposed_step(), with_formats({"int9"})); }, "--formats",
                         "did you mean");
  tune::TuneOptions strict = with_formats({"int8", "bf16"});
  strict.limits.max_nmse = 1e-9;
  strict.limits.error_option = "--min-sqnr";
  testing::check_refused([&] { tuned(exposed_step(), strict); }, "--min-sqnr", "'bucket'");
}

}  // namespace
}  // namespace equarx::tune_step::tune_test
