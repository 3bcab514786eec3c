#include "experiments/result/run_metrics.hpp"

#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::result::run_metrics_test {
namespace {

TEST_CASE("a run has the numbers of its members") {
  const run::ExperimentResult result = testing::run(testing::good_config());
  const run::RunResult& run = result.runs[1];
  CHECK(number_of(run_metrics(), run, "time_s") == run.time_s);
  CHECK(number_of(run_metrics(), run, "breakdown/idle_s") == run.breakdown.idle_s);
  CHECK(number_of(run_metrics(), run, "numerics/mse") == run.numerics->against_exact.mse);
  CHECK(number_of(run_metrics(), run, "wire_bytes_per_link") ==
        static_cast<double>(run.wire_bytes_per_link));
  CHECK_FALSE(number_of(run_metrics(), run, "failure/time_s"));
}

TEST_CASE("a failed run has the time of its failure, but none of its own") {
  run::RunResult run;
  run.time_s = 1.0;
  run.failure.emplace().time_s = 0.5;
  CHECK_FALSE(number_of(run_metrics(), run, "time_s"));
  CHECK(number_of(run_metrics(), run, "failure/time_s") == 0.5);
}

}  // namespace
}  // namespace equarx::result::run_metrics_test
