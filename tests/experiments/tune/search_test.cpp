#include "experiments/tune/search.hpp"

#include <set>
#include <string>

#include "tests/experiments/tune/tuning.hpp"
#include "tests/support/errors.hpp"

namespace equarx::tune {
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

TEST_CASE("tuning finds the front of the exhaustive search where all chips are neighbours") {
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

TEST_CASE("tuning finds the front of the exhaustive search of one phase alone") {
  for (const std::string collective : {"reduce-scatter", "all-gather"}) {
    CAPTURE(collective);
    input::Json json = small(R"({"ring": 4})", "512 KiB");
    json["collective"] = collective;
    json["collectives"] = input::parse_json(R"([{"label": "bf16", "algorithm": "ring"}])");
    check_against_exhaustive(json, with_formats({"int8", "mxfp6-e2m3", "bf16"}));
  }
}

TEST_CASE("tuning finds the front of the exhaustive search for values that no theory is about") {
  for (const std::string values :
       {R"({"distribution": "heavy-tailed"})", R"({"ranks": "identical"})"}) {
    CAPTURE(values);
    input::Json json = small(R"({"ring": 4})", "128 KiB");
    json["tensor"]["values"] = input::parse_json(values);
    const TuneResult result = check_against_exhaustive(json, with_formats({"int8", "mxfp4"}));
    for (const TunedCandidate& candidate : result.front) CHECK_FALSE(candidate.theory_nmse);
  }
}

TEST_CASE("a candidate that uses a breaking link is not on the front") {
  const TuneOptions options = with_formats({"int8", "bf16"});
  input::Json json = small(R"({"torus": "2x4"})", "256 KiB");
  json["faults"] =
      input::parse_json(R"x({"links": [{"between": ["(0,0)", "(0,3)"], "fails_at": "1 us"}]})x");
  const TuneResult all = exhaustive(json, options);
  CHECK(all.counts.failed > 0);  // the ring does not go there
  check_counts(all.counts);
  for (const TunedCandidate& candidate : all.front)
    CHECK(candidate.config.algorithm != collectives::find_algorithm("torus"));
  CHECK(points(tuned(json, options)) == points(all));

  json = small(R"({"fully-connected": 2})", "256 KiB");
  json["faults"] = input::parse_json(R"({"links": [{"between": ["0", "1"], "fails_at": "1 us"}]})");
  CHECK_THAT(testing::message_of([&] { tuned(json, options); }),
             ContainsSubstring("no candidate can run"));
}

TEST_CASE("a workload's phase is tuned as a whole") {
  input::Json json = input::parse_json(R"({
    "hardware": "tpu-v5e", "topology": {"slice": "2x2"},
    "workload": {"model": "gemma3-12b", "phase": "decode", "batch": 4, "context": 512},
    "collectives": [{"label": "bf16", "algorithm": "ring", "format": "bf16"}], "baseline": "bf16"})");
  const TuneResult result = check_against_exhaustive(json, with_formats({"int8", "bf16"}));
  CHECK(result.front.front().time_s > result.baseline.phase->compute_s);
}

}  // namespace
}  // namespace equarx::tune
