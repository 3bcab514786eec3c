#include "experiments/sweep/known_runs.hpp"

#include "base/input/json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/plan/plan.hpp"
#include "experiments/result/json.hpp"
#include "experiments/run/experiment.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::sweep::known_runs_test {
namespace {

using testing::changed;
using testing::good_config;

input::Json times_only() { return changed(good_config(), "/numerics", "off"); }

std::vector<run::RunResult> runs_of(KnownRuns& known, const input::Json& json) {
  const config::ExperimentConfig config = config::read_config(json);
  return known.runs(config, config::to_json(config));
}

/// Compares all results, bit for bit, with a run of its own.
void check_runs(KnownRuns& known, const input::Json& json) {
  const std::vector<run::RunResult> runs = runs_of(known, json);
  const std::vector<run::RunResult> expected =
      run::run_experiment(plan::make_plan(config::read_config(json), plan::RunProfile::batch),
                          [](const std::string&) {})
          .runs;
  REQUIRE(runs.size() == expected.size());
  for (std::size_t i = 0; i < runs.size(); ++i)
    CHECK(result::to_json(runs[i], {.links = true}) ==
          result::to_json(expected[i], {.links = true}));
}

TEST_CASE("known and new runs equal those of whole experiments") {
  KnownRuns known;
  check_runs(known, times_only());
  CHECK(known.size() == 2);
  check_runs(known, times_only());
  CHECK(known.size() == 2);
  check_runs(known, changed(times_only(), "/collectives/1/minishards", "3"));
  CHECK(known.size() == 3);  // the first collective is known
  check_runs(known, changed(times_only(), "/baseline", "int8"));
  CHECK(known.size() == 3);
  check_runs(known,
             changed(changed(times_only(), "/collectives/0/label", "other"), "/baseline", "other"));
  for (const auto& [pointer, value] :
       {std::pair{"/tensor", R"({"bytes": "128 KiB"})"},
        std::pair{"/topology", R"({"slice": "2x2"})"}, std::pair{"/hardware", R"("tpu-v6e")"},
        std::pair{"/timed_as", "step"}, std::pair{"/simulation", "full"},
        std::pair{"/collectives/0/algorithm", "auto"}})
    check_runs(known, changed(times_only(), pointer, value));
}

TEST_CASE("an error has the place of its collective though others are known") {
  KnownRuns known;
  runs_of(known, times_only());
  const input::Json wrong = changed(times_only(), "/collectives/1/minishards", "4000000000");
  std::string expected;
  try {
    plan::make_plan(config::read_config(wrong), plan::RunProfile::batch);
  } catch (const input::InputError& error) {
    expected = error.what();
  }
  CHECK_THAT(expected, ContainsSubstring("/collectives/1"));
  CHECK_THROWS_WITH(runs_of(known, wrong), expected);
}

TEST_CASE("kept runs are bounded") {
  KnownRuns known;
  const config::ExperimentConfig config = config::read_config(times_only());
  input::Json resolved = config::to_json(config);
  for (std::size_t point = 0; point <= KnownRuns::kMostRuns / 2; ++point) {
    resolved["number"] = point;  // as another key would
    known.runs(config, resolved);
    REQUIRE(known.size() <= KnownRuns::kMostRuns);
  }
  CHECK(known.size() == 2);
}

TEST_CASE("values, intervals and files rule out known runs") {
  CHECK(KnownRuns::supports(config::read_config(times_only())));
  CHECK_FALSE(KnownRuns::supports(config::read_config(good_config())));
  CHECK_FALSE(KnownRuns::supports(
      config::read_config(changed(times_only(), "/uncertainty", R"({"samples": 10})"))));
  const testing::TemporaryFile file(testing::tpu_v5e().dump());
  CHECK_FALSE(
      KnownRuns::supports(config::read_config(changed(times_only(), "/hardware", file.path()))));
}

}  // namespace
}  // namespace equarx::sweep::known_runs_test
