#include "experiments/tune/tune.hpp"

#include <cmath>
#include <string>

#include "experiments/tune/report.hpp"
#include "tests/experiments/tune/tuning.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/rank_files.hpp"

namespace equarx::tune::tune_test {
namespace {

using testing::check_refused;

TEST_CASE("limits truncate the front and determine the best candidate") {
  const input::Json json = small(R"({"fully-connected": 4})", "1 MiB");
  const TuneOptions free = with_formats({"int8", "mxfp4", "bf16"});
  const TuneResult all = tuned(json, free);
  REQUIRE(all.front.size() >= 4);
  CHECK(all.best == 0);

  TuneOptions limited = free;
  const TunedCandidate& middle = all.front[all.front.size() / 2];
  limited.limits.max_nmse = middle.nmse;
  TuneResult result = tuned(json, limited);
  CHECK(result.front.front().index == middle.index);
  CHECK(result.front.size() == all.front.size() - all.front.size() / 2);
  CHECK(result.best == 0);

  limited.limits = {.max_nmse = std::nullopt, .max_time_s = middle.time_s};
  result = tuned(json, limited);
  CHECK(result.front.back().index == middle.index);
  CHECK(result.best == result.front.size() - 1);

  limited.limits = {.max_nmse = middle.nmse, .max_time_s = middle.time_s};
  result = check_against_exhaustive(json, limited);
  REQUIRE(result.front.size() == 1);
  CHECK(result.front.front().index == middle.index);
}

TEST_CASE("limits that no candidate meets are rejected with the nearest candidate") {
  const input::Json json = small(R"({"fully-connected": 4})", "1 MiB");
  TuneOptions options = with_formats({"int8", "mxfp4"});
  const TuneResult all = tuned(json, options);
  REQUIRE(all.front.size() >= 2);
  options.limits = {.max_nmse = std::nullopt, .max_time_s = all.front.front().time_s / 2.0};
  check_refused([&] { tuned(json, options); }, "--max-time",
                "(" + all.front.front().config.label + ")");
  options.limits = {.max_nmse = all.front.back().nmse / 2.0, .max_time_s = std::nullopt};
  check_refused([&] { tuned(json, options); }, "--max-nmse", all.front.back().config.label);
  options.limits = {.max_nmse = all.front.back().nmse, .max_time_s = all.front.front().time_s};
  check_refused([&] { tuned(json, options); }, "--max-time", "relax one of the limits");
}

TEST_CASE("the front under a contract equals that of an exhaustive search, and keeps it") {
  using contract::Promise;
  const input::Json json = small(R"({"switch": 4})", "64 KiB");
  TuneOptions options = with_formats({"int8", "bf16"});
  options.promises = {Promise::one_rounding, Promise::same_bits_at_all_cuts};
  const TuneResult result = tuned(json, options);
  const TuneResult all = exhaustive(json, options);
  CHECK(points(result) == points(all));
  check_counts(result.counts);
  check_counts(all.counts);
  CHECK(result.counts.by_contract > 0);
  REQUIRE_FALSE(result.front.empty());
  for (const TunedCandidate& candidate : result.front) {
    const config::ExperimentConfig one = with_collective(result.config, candidate.config);
    CHECK_FALSE(contract::find_broken(one, options.promises, 1.0, 1));
  }
  REQUIRE(result.promise_costs.size() == 4);  // none, each, both
  for (const PromiseCost& cost : result.promise_costs) {
    TuneOptions alone = options;
    alone.promises = cost.promises;
    REQUIRE(cost.fastest);
    if (!cost.promises.empty())  // without promises the space has no arithmetics
      CHECK(exhaustive(json, alone).front.front().time_s == cost.fastest->time_s);
    CHECK(cost.fastest->time_s >= result.promise_costs.front().fastest->time_s);
  }
  CHECK(result.promise_costs.back().fastest->index == result.front.front().index);
  const input::Json found = to_json(result, json);
  CHECK(found["contract"]["promises"] == input::Json({"one-rounding", "same-bits-at-all-cuts"}));
  CHECK(found["contract"]["costs"].size() == 4);
  CHECK_THAT(to_table(result), ContainsSubstring("Broken: one-rounding"));
  const run::ExperimentResult again = testing::run(best_config(json, result));
  CHECK(again.runs[1].time_s == result.front.front().time_s);
}

TEST_CASE("contracts that no candidate keeps are rejected with the reason") {
  using contract::Promise;
  const input::Json json = small(R"({"switch": 4})", "64 KiB");
  TuneOptions options = with_formats({"int8"});
  options.promises = {Promise::one_rounding};
  check_refused([&] { tuned(json, options); }, "--contract", "excludes every format with scales");
  options.promises = {Promise::same_bits_on_fewer_ranks};
  check_refused([&] { tuned(json, options); }, "--contract", "no candidate keeps all promises");
  input::Json failing = json;
  failing["faults"] =
      input::parse_json(R"x({"links": [{"between": ["0", "switch"], "bandwidth_factor": 0.5}]})x");
  check_refused([&] { tuned(failing, options); }, "/faults", "healthy machine");
}

TEST_CASE("NaN in the inputs is named, and candidates that spread it are rejected") {
  // In a shard of another rank, so that the ReduceScatter quantizes it.
  const testing::TemporaryDirectory directory;
  const input::Json json = testing::from_files(
      {testing::write_values(directory, "all.npy", {testing::kRanks, 12288}, [](std::uint64_t i) {
        return i == 12288 + 1000 ? std::nanf("") : std::sin(static_cast<float>(i));
      })});
  const TuneResult result = tuned(json, with_formats({"mxfp4", "bf16"}));
  CHECK(result.nonfinite_inputs == std::vector<values::NonfiniteInput>{{1, 1, 0}});
  for (const TunedCandidate& candidate : result.front)
    CHECK(candidate.config.format.name == "bf16");
  CHECK_THAT(to_table(result), ContainsSubstring("Warning: input of rank 1 has 1 NaN;"));
  check_refused([&] { tuned(json, with_formats({"mxfp4"})); }, "/tensor/values",
                "input of rank 1 has 1 NaN; every candidate spreads this");
}

TEST_CASE("unknown formats are rejected") {
  const input::Json json = small(R"({"ring": 4})", "64 KiB");
  check_refused([&] { tuned(json, with_formats({"int9"})); }, "--formats", "did you mean 'int8'");
  check_refused([&] { tuned(json, with_formats({""})); }, "--formats", "is not known");
  check_refused([&] { tuned(json, with_formats({"int8", "int8"})); }, "--formats", "twice");
}

}  // namespace
}  // namespace equarx::tune::tune_test
