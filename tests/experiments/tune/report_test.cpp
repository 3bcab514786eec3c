#include "experiments/tune/report.hpp"

#include "tests/experiments/tune/tuning.hpp"

namespace equarx::tune::report_test {
namespace {

TEST_CASE("the best configuration reproduces the tuned time next to the baseline") {
  input::Json json = small(R"({"torus": "2x4"})", "1 MiB");
  json["collectives"][0]["label"] = "tuned";
  json["baseline"] = "tuned";
  json["faults"] = input::parse_json(R"x({"chips": [{"chip": "(0,1)", "slowdown": 1.5}]})x");
  const TuneResult result = tuned(json, with_formats({"int8", "mxint8"}));
  const input::Json best = best_config(json, result);
  CHECK(best["faults"] == json["faults"]);
  const run::ExperimentResult again = testing::run(best);
  REQUIRE(again.runs.size() == 2);
  CHECK(again.config.baseline == 0);
  CHECK(again.runs[0].time_s == result.baseline.time_s);
  CHECK(again.runs[1].time_s == result.front[result.best].time_s);
  CHECK(again.runs[1].numerics->against_exact.nmse ==
        Approx(result.front[result.best].nmse).epsilon(0.05));
}

TEST_CASE("JSON and table contain the front and the counts") {
  const input::Json json = small(R"({"ring": 4})", "256 KiB");
  const TuneResult result = tuned(json, with_formats({"int8", "bf16"}));
  const input::Json found = to_json(result, json);
  CHECK(found["front"].size() == result.front.size());
  CHECK(found["others"].size() == result.others.size());
  CHECK(found["counts"]["simulated"] == result.counts.simulated);
  CHECK(found["front"][0]["speedup"].get<double>() ==
        Approx(result.baseline.time_s / result.front[0].time_s));
  const std::string table = to_table(result);
  CHECK_THAT(table, ContainsSubstring(std::to_string(result.counts.candidates) + " candidates"));
  CHECK_THAT(table, ContainsSubstring(result.front[0].config.label));
  CHECK_THAT(table, ContainsSubstring("skipped") && ContainsSubstring("simulated"));
}

TEST_CASE("candidates of the front have the cost and energy of a run") {
  input::Json json = small(R"({"ring": 4})", "256 KiB");
  const std::string chip = json["hardware"];
  json["hardware"] = {
      {"based_on", chip}, {"price", "$3600/h"}, {"power_idle", "100 W"}, {"power_busy", "250 W"}};
  const TuneResult result = tuned(json, with_formats({"int8", "bf16"}));
  const input::Json found = to_json(result, json);
  const input::Json& best = found["front"][found["best"].get<std::size_t>()];
  const run::RunResult again = testing::run(best_config(json, result)).runs.at(1);
  CHECK(best["cost_usd"].get<double>() == Approx(4.0 * again.time_s));  // $1 per second and chip
  REQUIRE(again.expenses.energy);
  CHECK(best["energy_j"].get<double>() == Approx(again.expenses.energy->joules));
  CHECK(best["energy_j"].get<double>() > 4.0 * 100.0 * again.time_s);
  CHECK(found["baseline"]["cost_usd"].get<double>() == Approx(4.0 * result.baseline.time_s));
}

TEST_CASE("without a price and powers, candidates have neither cost nor energy") {
  const input::Json json = small(R"({"ring": 4})", "256 KiB");
  const input::Json found = to_json(tuned(json, with_formats({"int8"})), json);
  CHECK(!found["front"][0].contains("energy_j"));
}

}  // namespace
}  // namespace equarx::tune::report_test
