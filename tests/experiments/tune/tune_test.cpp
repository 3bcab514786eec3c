#include "experiments/tune/tune.hpp"

#include <string>

#include "tests/experiments/tune/tuning.hpp"
#include "tests/support/errors.hpp"

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
