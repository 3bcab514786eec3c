#include "experiments/tune_layouts/tune.hpp"

#include <algorithm>

#include "base/input/errors.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tune_layouts/small_training.hpp"

namespace equarx::tune_layouts::tune_test {
namespace {

TuneResult tuned(const input::Json& json, const TuneOptions& options = {}) {
  return tune(json, config::read_step_config(json), options, [](const std::string&) {});
}

TEST_CASE("the search finds the layout of the exhaustive one, with fewer simulations") {
  input::Json json = small_training();
  json["step"]["training"]["batch"] = 8;
  const TuneResult found = tuned(json);
  const TuneResult all = tuned(json, {.exhaustive = true});
  CHECK(found.trials.front().layout == all.trials.front().layout);
  CHECK(found.trials.front().time_s == all.trials.front().time_s);
  CHECK(found.trials.size() < all.trials.size() / 2);
  CHECK(found.candidates == all.candidates);
  for (const TuneResult* const one : {&found, &all}) {
    CHECK(one->do_not_fit + one->by_bound + one->cannot_run + one->trials.size() ==
          one->candidates);
    CHECK(std::ranges::is_sorted(one->trials, {}, &Trial::time_s));
  }
  CHECK(all.by_bound == 0);
}

TEST_CASE("the search does not depend on the number of threads") {
  const TuneResult one =
      tuned(network_training(), {.space = {.axes = {"tensor", "pipeline"}}, .threads = 1});
  const TuneResult two =
      tuned(network_training(), {.space = {.axes = {"tensor", "pipeline"}}, .threads = 3});
  REQUIRE(one.trials.size() == two.trials.size());
  for (std::size_t i = 0; i < one.trials.size(); ++i)
    CHECK(one.trials[i].layout == two.trials[i].layout);
  CHECK(one.runners_up.size() == 2);
  for (const RunnerUp& other : one.runners_up) {
    CHECK(other.trial.layout.length(other.axis) != one.trials.front().layout.length(other.axis));
    CHECK(other.trial.time_s >= one.trials.front().time_s);
  }
}

TEST_CASE("layouts beyond the HBM are left out, and if none fits the nearest is named") {
  input::Json json = small_training();
  json["hardware"] = {{"based_on", "gb200"}, {"hbm_capacity", "60 GiB"}};
  const TuneResult some = tuned(json, {.space = {.axes = {"data", "fsdp"}}});
  CHECK(some.do_not_fit > 0);
  CHECK(some.least_unfit_bytes > some.hbm_bytes());
  for (const Trial& trial : some.trials) CHECK(trial.memory_bytes <= some.hbm_bytes());
  json["hardware"]["hbm_capacity"] = "8 GiB";
  CHECK_THROWS_AS(tuned(json), input::DoesNotFitError);
  CHECK_THROWS_WITH(tuned(json), ContainsSubstring("fits into the 8.000 GiB of gb200") &&
                                     ContainsSubstring("; the nearest needs "));
}

TEST_CASE("a budget ends the search") {
  CHECK_THROWS_WITH(tuned(small_training(), {.budget_s = 1e-9}),
                    ContainsSubstring("--budget: ends before"));
}

}  // namespace
}  // namespace equarx::tune_layouts::tune_test
