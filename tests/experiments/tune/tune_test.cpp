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

TEST_CASE("unknown formats and collectives without a reduction are rejected") {
  const input::Json json = small(R"({"ring": 4})", "64 KiB");
  check_refused([&] { tuned(json, with_formats({"int9"})); }, "--formats", "did you mean 'int8'");
  check_refused([&] { tuned(json, with_formats({""})); }, "--formats", "is not known");
  check_refused([&] { tuned(json, with_formats({"int8", "int8"})); }, "--formats", "twice");
  for (const std::string collective : {"all-to-all", "broadcast"}) {
    input::Json other = json;
    other["collective"] = collective;
    other["collectives"] = input::parse_json(R"([{"label": "bf16", "algorithm": "direct"}])");
    check_refused([&] { tuned(other, {}); }, "/collective", "cannot be quantized");
  }
}

}  // namespace
}  // namespace equarx::tune::tune_test
