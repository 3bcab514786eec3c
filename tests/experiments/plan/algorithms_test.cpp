// Every algorithm, by the name that users give it, does every collective that it is offered for.
#include <algorithm>

#include <fmt/format.h>

#include "experiments/input/json.hpp"
#include "experiments/input/schema.hpp"
#include "experiments/plan/programs.hpp"
#include "experiments/result/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::plan {
namespace {

using testing::plan_of;
using testing::run;

const std::vector<std::string> kCollectives = {"all-reduce", "reduce-scatter", "all-gather",
                                               "all-to-all", "broadcast"};

/// 1031 elements: a prime, so that nothing divides.
input::Json experiment(const std::string& topology, const std::string& collective) {
  return {{"hardware", "tpu-v5e"},
          {"topology", input::parse_json(topology)},
          {"tensor", {{"shape", {1031}}}},
          {"collective", collective},
          {"collectives", input::Json::array()}};
}

/// Every algorithm of the collective that can run there, with a format.
void add_algorithms(input::Json& json, const std::string& format) {
  input::Json probe = json;
  probe["collectives"] = {{{"algorithm", "auto"}}};
  const config::ExperimentConfig config = config::read_config(probe);
  for (const config::Algorithm algorithm : config::algorithms_of(config.collective)) {
    const bool fits = format == "int8" ? config::can_be_quantized(config.collective, algorithm)
                                       : config::can_be_plain(algorithm);
    if (!fits || !why_not(algorithm, config).empty()) continue;
    json["collectives"].push_back({{"algorithm", name(algorithm)}, {"format", format}});
    if (format == "int8")  // one scale for each of 1024 strided groups would leave no error
      json["collectives"].back().update({{"layout", "contiguous"}, {"block", 32}});
  }
}

struct Site {
  std::string topology;
  std::size_t all_reduces;  ///< algorithms for an AllReduce, `auto` included, of bf16 and of int8
};

const std::vector<Site>& sites() {
  static const std::vector<Site> all = {
      {R"({"slice": "4x2"})", 7},
      {R"({"torus": "4x4"})", 7},
      {R"({"mesh": "2x2x2"})", 7},
      {R"({"torus": "3x2"})", 5},        // no power of two
      {R"({"fully-connected": 8})", 6},  // no axes
      {fmt::format(R"({{"file": "{}/topologies/two_islands.json"}})", EQUARX_CONFIGS_DIR), 6}};
  return all;
}

void check_run(const run::RunResult& run, const std::string& collective,
               const std::string& format) {
  CHECK(run.time_s >= run.lower_bound_s * (1.0 - 1e-9));
  CHECK(run.lower_bound_s > 0.0);
  CHECK(run.messages > 0);
  CHECK_FALSE(run.failure);
  REQUIRE(run.numerics);
  CHECK(run.numerics->ranks_identical);
  CHECK(run.breakdown.payload_s > 0.0);
  for (const run::LinkUse& link : run.links) {
    CHECK(link.utilisation(run.time_s) >= 0.0);
    CHECK(link.utilisation(run.time_s) <= 1.0 + 1e-9);
  }
  const double nmse = run.numerics->against_exact.nmse;
  const bool sums = collective == "all-reduce" || collective == "reduce-scatter";
  constexpr double kMostOfBf16 = 1e-4;
  constexpr double kMostOfInt8 = 1e-3;
  if (format == "int8") {
    CHECK(nmse > 0.0);
    CHECK(nmse < kMostOfInt8);
  } else if (sums) {
    CHECK(nmse < kMostOfBf16);
  } else {
    CHECK(nmse == 0.0);  // bytes are only moved
  }
}

TEST_CASE("every algorithm runs every collective that it is offered for") {
  for (const Site& site : sites())
    for (const std::string& collective : kCollectives)
      for (const std::string format : {"bf16", "int8"}) {
        input::Json json = experiment(site.topology, collective);
        add_algorithms(json, format);
        CAPTURE(json.dump());
        if (collective == "all-reduce") CHECK(json["collectives"].size() == site.all_reduces);
        if (json["collectives"].empty()) {
          CHECK(format == "int8");
          CHECK((collective == "all-to-all" || collective == "broadcast"));
          continue;
        }
        CHECK_NOTHROW(input::check_schema(json, "experiment"));
        const run::ExperimentResult result = run(json);
        for (const run::RunResult& one : result.runs) {
          CAPTURE(one.label);
          check_run(one, collective, format);
        }
        const input::Json printed = to_json(result, {.links = true});
        CHECK_NOTHROW(input::check_schema(printed, "result"));
        CHECK_NOTHROW(input::check_schema(printed["config"], "experiment"));
        // Again, from the configuration that the result shows: to the same bytes.
        CHECK(to_json(run(printed["config"]), {.links = true}).dump() == printed.dump());
      }
}

TEST_CASE("int8 has about the error of theory, whatever the algorithm") {
  // docs/algorithms.md: factors on the error of quantizing once. 16 ranks; a torus of 4 x 4.
  input::Json json = experiment(R"({"torus": "4x4"})", "all-reduce");
  json["tensor"] = input::parse_json(R"({"shape": [1048576], "dtype": "fp32"})");
  const std::vector<std::pair<std::string, double>> factors = {
      {"equarx", 8.5},            // (N + 1) / 2
      {"torus", 4.0},             // 1 + sum of (N_d - 1) / 2
      {"halving-doubling", 3.0},  // log2(N) / 2 + 1
      {"two-shot", 2.0 - 1.0 / 16.0},
      {"one-shot", 1.0},
      {"recursive-doubling", 4.0}};  // log2(N)
  for (const auto& [algorithm, factor] : factors)
    json["collectives"].push_back(
        {{"algorithm", algorithm}, {"format", "int8"}, {"layout", "contiguous"}, {"block", 128}});
  const run::ExperimentResult result = run(json);
  const double once = result.runs[4].numerics->against_exact.nmse;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    CAPTURE(factors[i].first);
    CHECK(result.runs[i].numerics->against_exact.nmse ==
          Approx(once * factors[i].second).epsilon(0.03));
  }
}

TEST_CASE("the halves of an AllReduce take less time than it, and more than half of their bound") {
  for (const std::string algorithm : {"ring", "torus", "halving-doubling"}) {
    double halves = 0.0;
    double whole = 0.0;
    for (const std::string collective : {"all-reduce", "reduce-scatter", "all-gather"}) {
      input::Json json = experiment(R"({"torus": "4x4"})", collective);
      json["tensor"] = {{"bytes", "4 MiB"}};
      json["numerics"] = "off";
      json["collectives"].push_back({{"algorithm", algorithm}});
      (collective == "all-reduce" ? whole : halves) += run(json).runs[0].time_s;
    }
    CAPTURE(algorithm);
    CHECK(whole == Approx(halves).epsilon(0.05));
  }
}

// --- auto

/// A name for what `auto` chooses, and for everything that it could.
input::Json automatic_and_named(const Site& site, const std::string& collective,
                                const std::string& format) {
  input::Json json = experiment(site.topology, collective);
  json["tensor"] = {{"bytes", "64 KiB"}};
  json["numerics"] = "off";
  add_algorithms(json, format);
  return json;
}

TEST_CASE("auto takes the fastest, and tries none whose bound is beyond it") {
  for (const Site& site : sites())
    for (const auto& [collective, format] :
         std::vector<std::pair<std::string, std::string>>{{"all-reduce", "bf16"},
                                                          {"all-reduce", "int8"},
                                                          {"reduce-scatter", "int8"},
                                                          {"all-gather", "bf16"},
                                                          {"broadcast", "bf16"}}) {
      const input::Json json = automatic_and_named(site, collective, format);
      CAPTURE(json.dump());
      const run::ExperimentResult result = run(json);
      const run::RunResult& automatic = result.runs.back();
      REQUIRE(automatic.label == "auto " + format);
      REQUIRE(automatic.algorithm != config::Algorithm::automatic);
      double fastest = automatic.time_s;
      for (std::size_t i = 0; i + 1 < result.runs.size(); ++i) {
        const run::RunResult& named = result.runs[i];
        fastest = std::min(fastest, named.time_s);
        if (automatic.candidates.empty()) continue;  // there was one only
        const auto candidate =
            std::ranges::find(automatic.candidates, named.algorithm, &run::Candidate::algorithm);
        REQUIRE(candidate != automatic.candidates.end());
        if (candidate->time_s) {
          CHECK(*candidate->time_s == named.time_s);
          continue;
        }
        CHECK_THAT(candidate->note, ContainsSubstring("its lower bound is"));
        CHECK(named.lower_bound_s > automatic.time_s);
      }
      CHECK(automatic.time_s == fastest);
    }
}

TEST_CASE("auto says why algorithms cannot run") {
  input::Json json = experiment(R"({"mesh": "3x3"})", "all-reduce");
  json["numerics"] = "off";
  json["collectives"] = {{{"algorithm", "auto"}}};
  const run::RunResult one = run(json).runs[0];
  const auto note = [&](config::Algorithm algorithm) {
    const auto found = std::ranges::find(one.candidates, algorithm, &run::Candidate::algorithm);
    return found == one.candidates.end() ? "" : found->note;
  };
  CHECK_THAT(note(config::Algorithm::ring), ContainsSubstring("no Hamiltonian ring exists"));
  CHECK_THAT(note(config::Algorithm::halving_doubling), ContainsSubstring("power of two"));
}

TEST_CASE("auto avoids by a ring, where the others cannot") {
  input::Json json =
      experiment(R"j({"torus": "4x4", "avoid": [["(0,0)", "(0,1)"]]})j", "all-reduce");
  json["numerics"] = "off";
  json["collectives"] = {{{"algorithm", "auto"}}};
  const run::RunResult one = run(json).runs[0];
  CHECK(one.algorithm == config::Algorithm::ring);
  CHECK(one.candidates.size() == 6);
}

TEST_CASE("auto takes the format of the tensor, or int8 where it is asked for") {
  input::Json json = experiment(R"({"slice": "4x2"})", "all-reduce");
  json["collectives"] =
      input::parse_json(R"([{"algorithm": "auto"}, {"algorithm": "auto", "format": "int8"}])");
  const config::ExperimentConfig config = config::read_config(json);
  CHECK_FALSE(config.collectives[0].format.scaled);
  CHECK(config.collectives[1].format.scaled);
}

}  // namespace
}  // namespace equarx::plan
