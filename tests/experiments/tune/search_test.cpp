#include "experiments/tune/search.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "experiments/config/collective_json.hpp"
#include "experiments/tune/report.hpp"
#include "tests/experiments/tune/tuning.hpp"
#include "tests/support/errors.hpp"

namespace equarx::tune::search_test {
namespace {

TEST_CASE("tuning finds the front of the exhaustive search on a slice") {
  const TuneResult result = check_against_exhaustive(small(R"({"slice": "2x2"})", "2 MiB"),
                                                     with_formats({"int8", "bf16"}));
  std::set<std::string> formats;
  for (const TunedCandidate& candidate : result.front) formats.insert(candidate.config.format.name);
  CHECK(formats == std::set<std::string>{"int8", "bf16"});
  CHECK(result.counts.errors_computed < result.counts.errors);
}

TEST_CASE("tuning finds the front of the exhaustive search on a torus") {
  check_against_exhaustive(small(R"({"torus": "4x4"})", "128 KiB"), with_formats({"int4", "bf16"}));
}

TEST_CASE("tuning finds the front of the exhaustive search on a fully connected machine") {
  check_against_exhaustive(small(R"({"fully-connected": 4})", "1 MiB"),
                           with_formats({"fp8-e4m3", "nvfp4", "bf16"}));
}

TEST_CASE("tuning finds the front of the exhaustive search with a slow link and a slow chip") {
  input::Json json = small(R"({"torus": "2x4"})", "256 KiB");
  json["faults"] = input::parse_json(R"x({
    "links": [{"between": ["(0,0)", "(0,1)"], "bandwidth_factor": 0.25, "extra_latency": "3 us"}],
    "chips": [{"chip": "(1,2)", "slowdown": 2.0}, {"chip": "(1,3)", "slowdown": 0.5}]})x");
  check_against_exhaustive(json, with_formats({"int8", "bf16"}));
}

TEST_CASE("the result is independent of the number of threads") {
  input::Json json = small(R"({"slice": "2x2"})", "2 MiB");
  const TuneResult many = tuned(json, with_formats({"int8", "bf16"}));
  json["engine"] = "simgrid";
  const TuneResult one = tuned(json, with_formats({"int8", "bf16"}));
  CHECK(one.counts.simulated == many.counts.simulated);
  CHECK(one.counts.errors_computed == many.counts.errors_computed);
  REQUIRE(one.front.size() == many.front.size());
  for (std::size_t i = 0; i < one.front.size(); ++i) {
    CHECK(one.front[i].index == many.front[i].index);
    CHECK(one.front[i].nmse == many.front[i].nmse);
    CHECK(one.front[i].time_s == Approx(many.front[i].time_s).epsilon(1e-9));
  }
}

TEST_CASE("tuning finds the front of the exhaustive search for ReduceScatter and AllGather") {
  for (const std::string collective : {"reduce-scatter", "all-gather"}) {
    CAPTURE(collective);
    input::Json json = small(R"({"ring": 4})", "512 KiB");
    json["collective"] = collective;
    json["collectives"] = input::parse_json(R"([{"label": "bf16", "algorithm": "ring"}])");
    check_against_exhaustive(json, with_formats({"int8", "mxfp6-e2m3", "bf16"}));
  }
}

TEST_CASE("tuning finds the front of the exhaustive search for values without an error theory") {
  for (const std::string values :
       {R"({"distribution": "heavy-tailed"})", R"({"ranks": "identical"})"}) {
    CAPTURE(values);
    input::Json json = small(R"({"ring": 4})", "128 KiB");
    json["tensor"]["values"] = input::parse_json(values);
    const TuneResult result = check_against_exhaustive(json, with_formats({"int8", "mxfp4"}));
    for (const TunedCandidate& candidate : result.front) CHECK_FALSE(candidate.theory_nmse);
  }
}

TEST_CASE("a candidate that uses a failing link is not on the front") {
  const TuneOptions options = with_formats({"int8", "bf16"});
  input::Json json = small(R"({"torus": "2x4"})", "256 KiB");
  json["faults"] =
      input::parse_json(R"x({"links": [{"between": ["(0,0)", "(0,3)"], "fails_at": "1 us"}]})x");
  const TuneResult all = exhaustive(json, options);
  CHECK(all.counts.failed > 0);  // the ring does not use the link
  check_counts(all.counts);
  for (const TunedCandidate& candidate : all.front)
    CHECK(candidate.config.algorithm != collectives::find_algorithm("torus"));
  CHECK(points(tuned(json, options)) == points(all));

  json = small(R"({"fully-connected": 2})", "256 KiB");
  json["faults"] = input::parse_json(R"({"links": [{"between": ["0", "1"], "fails_at": "1 us"}]})");
  CHECK_THAT(testing::message_of([&] { tuned(json, options); }),
             ContainsSubstring("no candidate can complete: links fail before"));
}

TEST_CASE(
    "if links fail in every candidate, no error is computed and the message names the links") {
  input::Json json = small(R"({"slice": "2x2"})", "8 MiB");
  json["faults"] =
      input::parse_json(R"x({"links": [{"between": ["(0,1)", "(1,1)"], "fails_at": "136 ns"}]})x");
  const auto message = testing::message_of([&] { tuned(json, with_formats({"int8", "bf16"})); });
  CHECK_THAT(message, ContainsSubstring("/faults/links: no candidate"));
  CHECK_THAT(message, ContainsSubstring("links fail before"));
}

TEST_CASE("an exhausted budget ends the search, and skipped candidates are reported") {
  const input::Json json = small(R"({"slice": "2x2"})", "2 MiB");
  TuneOptions options = with_formats({"int8", "bf16"});
  options.budget_s = 1e-9;
  const TuneResult little = tuned(json, options);  // the first result is exempt
  check_counts(little.counts);
  CHECK(little.front.size() == 1);
  REQUIRE_FALSE(little.skipped.empty());
  CHECK(little.skipped.front().reason == "the budget is exhausted");
  CHECK_THAT(to_table(little), ContainsSubstring("than the remaining budget"));
  options.budget_s = 3600.0;
  const TuneResult whole = tuned(json, options);
  CHECK(whole.skipped.empty());
  CHECK(points(whole) == points(tuned(json, with_formats({"int8", "bf16"}))));
}

TEST_CASE("expensive candidates are reported as skipped only if they may be on the front") {
  // Rings are simulated by representative chips at no estimated cost; all-to-all algorithms are
  // not.
  const input::Json json = small(R"({"mesh": "2x3"})", "256 KiB");
  TuneOptions options = with_formats({"int8", "bf16"});
  const TuneResult whole = tuned(json, options);
  CHECK(whole.skipped.empty());
  options.most_trial_s = 1e-9;
  const TuneResult result = tuned(json, options);
  check_counts(result.counts);
  REQUIRE_FALSE(result.skipped.empty());
  CHECK(result.counts.simulated > 0);
  CHECK(result.counts.not_tried < result.counts.candidates - whole.counts.cannot_run);
  std::uint64_t count = 0;
  for (const SkippedCandidates& some : result.skipped) {
    count += some.count;
    CHECK(some.cost_s > 0.0);
    CHECK_THAT(some.reason, ContainsSubstring("simulating it would take about"));
    for (const TunedCandidate& candidate : result.front)
      CHECK_FALSE((candidate.time_s < some.bound_s * 0.99 && candidate.nmse <= some.nmse_floor));
  }
  CHECK(count == result.counts.not_tried);
  CHECK_THAT(to_table(result), ContainsSubstring("SKIPPED, and may be"));
  // Every candidate of the full front is either on the front or reported as skipped.
  for (const TunedCandidate& candidate : whole.front) {
    CAPTURE(candidate.config.label);
    const auto same = [&](const auto& other) {
      return other.config.label == candidate.config.label;
    };
    CHECK((std::ranges::any_of(result.front, same) || std::ranges::any_of(result.skipped, same)));
  }
}

}  // namespace
}  // namespace equarx::tune::search_test
