#include "experiments/tune/tune.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "experiments/input/json.hpp"
#include "experiments/plan/plan.hpp"
#include "experiments/tune/bounds.hpp"
#include "experiments/tune/report.hpp"
#include "experiments/tune/theory.hpp"
#include "sim/machine.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::testing {
namespace {

/// A small problem where quantized and plain candidates are both worth their time.
input::Json small(const std::string& topology, const std::string& bytes) {
  input::Json json = good_config();
  json["topology"] = input::parse_json(topology);
  json["tensor"] = {{"bytes", bytes}};
  return json;
}

TuneOptions with_formats(std::vector<std::string> formats) {
  return {.limits = {}, .formats = std::move(formats)};
}

TuneResult tuned(const input::Json& json, const TuneOptions& options) {
  return tune(config::read_config(json), options, [](const std::string&) {});
}

TuneResult exhaustive(const input::Json& json, TuneOptions options) {
  options.exhaustive = true;
  return tuned(json, options);
}

std::vector<std::tuple<std::size_t, double, double>> points(const TuneResult& result) {
  std::vector<std::tuple<std::size_t, double, double>> found;
  for (const TunedCandidate& candidate : result.front)
    found.emplace_back(candidate.index, candidate.time_s, candidate.nmse);
  return found;
}

void check_counts(const TuneCounts& counts) {
  CHECK(counts.by_bound + counts.by_error + counts.unfit + counts.failed + counts.simulated ==
        counts.candidates);
  CHECK(counts.errors_computed <= counts.errors);
}

/// The same front, with fewer simulations. Returns it.
TuneResult check_against_exhaustive(const input::Json& json, const TuneOptions& options) {
  const TuneResult all = exhaustive(json, options);
  TuneResult result = tuned(json, options);
  CHECK(points(result) == points(all));
  CHECK(result.best == all.best);
  CHECK_FALSE(all.theory_refuted);  // no error of the whole space is below its floor
  CHECK_FALSE(result.theory_refuted);
  check_counts(all.counts);
  check_counts(result.counts);
  CHECK(all.counts.by_bound + all.counts.by_error == 0);
  CHECK(all.counts.errors_computed == all.counts.errors);
  CHECK(result.counts.simulated < all.counts.simulated);
  return result;
}

TEST_CASE("tuning finds the front of the exhaustive search on a slice") {
  const TuneResult result = check_against_exhaustive(small(R"({"slice": "2x2"})", "2 MiB"),
                                                     with_formats({"int8", "bf16"}));
  std::set<std::string> formats;
  for (const TunedCandidate& candidate : result.front) formats.insert(candidate.config.format.name);
  CHECK(formats == std::set<std::string>{"int8", "bf16"});
  CHECK(result.counts.errors_computed < result.counts.errors);
  CHECK(result.counts.simulated < result.counts.candidates / 5);
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

TEST_CASE("limits cut the front, and choose the best of it") {
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

TEST_CASE("limits that nothing meets are refused, with what is nearest") {
  const input::Json json = small(R"({"fully-connected": 4})", "1 MiB");
  TuneOptions options = with_formats({"int8", "mxfp4"});
  const TuneResult all = tuned(json, options);
  REQUIRE(all.front.size() >= 2);
  options.limits = {.max_nmse = std::nullopt, .max_time_s = all.front.front().time_s / 2.0};
  check_refused([&] { tuned(json, options); }, "--max-time",
                "which " + all.front.front().config.label + " takes");
  options.limits = {.max_nmse = all.front.back().nmse / 2.0, .max_time_s = std::nullopt};
  check_refused([&] { tuned(json, options); }, "--max-nmse", all.front.back().config.label);
  options.limits = {.max_nmse = all.front.back().nmse, .max_time_s = all.front.front().time_s};
  check_refused([&] { tuned(json, options); }, "--max-time", "relax one of the limits");
}

TEST_CASE("what cannot be tuned is refused") {
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

TEST_CASE("the best configuration runs as it was found, beside the baseline") {
  input::Json json = small(R"({"torus": "2x4"})", "1 MiB");
  json["collectives"][0]["label"] = "tuned";
  json["baseline"] = "tuned";
  json["faults"] = input::parse_json(R"x({"chips": [{"chip": "(0,1)", "slowdown": 1.5}]})x");
  const TuneResult result = tuned(json, with_formats({"int8", "mxint8"}));
  const input::Json best = best_config(json, result);
  CHECK(best["faults"] == json["faults"]);
  const run::ExperimentResult again = run(best);
  REQUIRE(again.runs.size() == 2);
  CHECK(again.config.baseline == 0);
  CHECK(again.runs[0].time_s == result.baseline.time_s);
  CHECK(again.runs[1].time_s == result.front[result.best].time_s);
  CHECK(again.runs[1].numerics->against_exact.nmse ==
        Approx(result.front[result.best].nmse).epsilon(0.05));
}

TEST_CASE("equal cuts are one candidate, and a tensor that is too small has few") {
  const config::ExperimentConfig config = config::read_config(small(R"({"ring": 4})", "64 KiB"));
  const TuneSpace space = enumerate(config, tune_formats({"int8"}));
  std::set<std::tuple<config::Algorithm, collectives::RingStyle, config::QuantizedPhases>> ways;
  for (const TuneFamily& family : space.families)
    CHECK(
        ways.insert({family.config.algorithm, family.config.ring, family.config.quantize}).second);
  CHECK(space.duplicates == space.candidates.size() * (kElementsPerScale.size() - 1));
  const TuneResult result = exhaustive(small(R"({"ring": 4})", "64 B"), with_formats({"int8"}));
  CHECK(result.counts.unfit > 0);  // sixteen microshards of eight elements
}

TEST_CASE("every format with scales is tried unless they are named") {
  std::set<std::string> names;
  for (const config::NamedBlockFormat& format : tune_formats({})) names.insert(format.name);
  CHECK(names.contains("int8"));
  CHECK(names.contains("nvfp4"));
  CHECK(names.contains("bf16"));
  CHECK_FALSE(names.contains("fp16"));
  CHECK(names.size() == tune_formats({}).size());
}

/// Bounds of every candidate, against its links and its time.
void check_bounds(const input::Json& json) {
  const config::ExperimentConfig config = config::read_config(json);
  const TuneSpace space = enumerate(config, tune_formats({"int8", "mxfp6-e2m3"}));
  for (const TuneCandidate& candidate : space.candidates) {
    if (candidate.microshards != 1 && candidate.microshards != 8) continue;
    const TuneFamily& family = space.families[candidate.family];
    const plan::Plan plan = plan::make_plan(with_collective(config, config_of(space, candidate)));
    const plan::CollectivePlan& collective = plan.collectives.front().candidates.front();
    const double early_s =
        traffic_bound_s(space.schemes[family.scheme], family.config, config.tensor.dtype);
    const double links_s = sim::lower_bound_s(collective.program, collective.simulated.machine);
    const double program_s = program_bound_s(collective);
    const double time_s = run::run_experiment(plan, [](const std::string&) {}).runs.front().time_s;
    CAPTURE(collective.config.label, candidate.microshards, family.config.elements_per_scale);
    CHECK(early_s <= time_s * (1.0 + 1e-6));
    CHECK(program_s <= time_s * (1.0 + 1e-6));
    CHECK(links_s <= program_s);
    CHECK(early_s > 0.9 * links_s);  // or it would be of no use
  }
}

TEST_CASE("what is bounded before there is a program holds for it") {
  check_bounds(small(R"({"torus": "2x4"})", "1 MB"));
  check_bounds(small(R"({"mesh": "4x2"})", "300 kB"));
}

TEST_CASE("the bound of a uniform ring's program is its time") {
  const config::ExperimentConfig config = config::read_config(small(R"({"ring": 6})", "1 MiB"));
  const TuneSpace space = enumerate(config, tune_formats({"int8"}));
  for (const TuneCandidate& candidate : space.candidates) {
    if (space.families[candidate.family].config.algorithm != config::Algorithm::equarx) continue;
    const plan::Plan plan = plan::make_plan(with_collective(config, config_of(space, candidate)));
    const plan::CollectivePlan& collective = plan.collectives.front().candidates.front();
    const double time_s = run::run_experiment(plan, [](const std::string&) {}).runs.front().time_s;
    CHECK(program_bound_s(collective) <= time_s * (1.0 + 1e-6));
    CHECK(program_bound_s(collective) > 0.9999 * time_s);
  }
}

TEST_CASE("theory predicts computed errors, and its floor is below them") {
  const input::Json json = small(R"({"torus": "2x4"})", "4 MiB");
  const config::ExperimentConfig config = config::read_config(json);
  const TuneSpace space = enumerate(config, tune_formats({"int8"}));
  const TuneResult result = tuned(json, with_formats({"int8"}));
  for (const TunedCandidate& candidate : result.front) {
    CAPTURE(candidate.config.label, candidate.config.elements_per_scale);
    REQUIRE(candidate.theory_nmse);
    if (candidate.config.quantize == config::QuantizedPhases::both)
      CHECK(candidate.nmse == Approx(*candidate.theory_nmse).epsilon(0.1));
  }
  ErrorTheory theory(config);
  for (const TuneFamily& family : space.families) {
    const auto prediction = theory.predict(space.schemes[family.scheme], family.config);
    REQUIRE(prediction);
    CHECK(prediction->floor > 0.0);
    CHECK(prediction->floor <= prediction->nmse / ErrorTheory::kMargin * (1.0 + 1e-9));
  }
}

TEST_CASE("few bits on many ranks stay above the floor, which theory does not know") {
  // A hop's step is far beyond what a rank adds: much is lost, and less than c says.
  input::Json json = small(R"({"ring": 64})", "64 KiB");
  const TuneResult result = exhaustive(json, with_formats({"int4"}));
  CHECK_FALSE(result.theory_refuted);
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
    CHECK(candidate.config.algorithm != config::Algorithm::torus);
  CHECK(points(tuned(json, options)) == points(all));

  json = small(R"({"fully-connected": 2})", "256 KiB");
  json["faults"] = input::parse_json(R"({"links": [{"between": ["0", "1"], "fails_at": "1 us"}]})");
  CHECK_THAT(message_of([&] { tuned(json, options); }), ContainsSubstring("no candidate can run"));
}

TEST_CASE("a workload's phase is tuned as a whole") {
  input::Json json = input::parse_json(R"({
    "hardware": "tpu-v5e", "topology": {"slice": "2x2"},
    "workload": {"model": "gemma3-12b", "phase": "decode", "batch": 4, "context": 512},
    "collectives": [{"label": "bf16", "algorithm": "ring", "format": "bf16"}], "baseline": "bf16"})");
  const TuneResult result = check_against_exhaustive(json, with_formats({"int8", "bf16"}));
  CHECK(result.front.front().time_s > result.baseline.phase->compute_s);
}

TEST_CASE("the result as JSON has all that was found, and as a table says how") {
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
  CHECK_THAT(table, ContainsSubstring("Not tried") || ContainsSubstring("simulated"));
}

}  // namespace
}  // namespace equarx::testing
