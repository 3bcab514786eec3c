// Every algorithm, selected by name, on every collective that it supports.
#include "base/input/errors.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/result/json.hpp"
#include "tests/catch.hpp"
#include "tests/invariants/machine_cases.hpp"

namespace equarx::testing::algorithms_test {
namespace {

const std::vector<std::string> kCollectives = {"all-reduce", "reduce-scatter", "all-gather",
                                               "all-to-all", "broadcast"};

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
    CHECK(nmse == 0.0);  // values are only moved
  }
}

TEST_CASE("every algorithm runs every collective that it supports") {
  for (const MachineCase& machine_case : machine_cases())
    for (const std::string& collective : kCollectives)
      for (const std::string format : {"bf16", "int8"}) {
        input::Json json = experiment(machine_case.topology, collective);
        add_algorithms(json, format);
        CAPTURE(json.dump());
        if (collective == "all-reduce")
          CHECK(json["collectives"].size() ==
                (format == "int8" ? machine_case.quantized : machine_case.plain));
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
        const input::Json printed = result::to_json(result, {.links = true});
        CHECK_NOTHROW(input::check_schema(printed, "result"));
        CHECK_NOTHROW(input::check_schema(printed["config"], "experiment"));
        // Run again from the configuration in the result, with the same bytes.
        CHECK(result::to_json(run(printed["config"]), {.links = true}).dump() == printed.dump());
      }
}

TEST_CASE("a shared scale works with every plain algorithm that sums") {
  constexpr double kMostOfFp8 = 0.1;
  constexpr double kMostOfQsgd = 1.5;  // for 16 ranks, whose int8 codes are 0 or small
  for (const MachineCase& machine_case : machine_cases())
    for (const std::string collective : {"all-reduce", "reduce-scatter"})
      for (const std::string format :
           {"fp8lm-e4m3", "fp8lm-e5m2", "global-qsgd-int8", "global-qsgd-exp8"}) {
        input::Json json = experiment(machine_case.topology, collective);
        add_algorithms(json, format);
        CAPTURE(json.dump());
        const bool exponents = format == "global-qsgd-exp8";
        if (collective == "all-reduce")
          CHECK(json["collectives"].size() ==
                (exponents ? machine_case.in_twos : machine_case.shared));
        if (exponents && machine_case.in_twos == 1) {
          CHECK_THROWS_AS(run(json), input::InputError);
          continue;
        }
        CHECK_NOTHROW(input::check_schema(json, "experiment"));
        const run::ExperimentResult result = run(json);
        for (const run::RunResult& one : result.runs) {
          CAPTURE(one.label);
          CHECK(one.time_s >= one.lower_bound_s * (1.0 - 1e-9));
          CHECK(one.numerics->ranks_identical);
          CHECK(one.numerics->against_exact.nmse > 0.0);
          CHECK(one.numerics->against_exact.nmse <
                (format.starts_with("global-qsgd") ? kMostOfQsgd : kMostOfFp8));
        }
        const input::Json printed = result::to_json(result, {.links = true});
        CHECK_NOTHROW(input::check_schema(printed, "result"));
        CHECK_NOTHROW(input::check_schema(printed["config"], "experiment"));
        CHECK(result::to_json(run(printed["config"]), {.links = true}).dump() == printed.dump());
      }
}

TEST_CASE("int8 has about the theoretical error with every algorithm") {
  // docs/algorithms.md: multiples of the error of one quantization. 16 ranks; a torus of 4 x 4.
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

TEST_CASE("the halves of an AllReduce take as long as the whole, plus one startup") {
  const double start_s = config::load_chip("tpu-v5e", "").collective_startup.value;
  for (const std::string algorithm : {"ring", "torus", "halving-doubling"}) {
    double halves = 0.0;
    double whole = 0.0;
    for (const std::string collective : {"all-reduce", "reduce-scatter", "all-gather"}) {
      input::Json json = experiment(R"({"torus": "4x4"})", collective);
      json["tensor"] = {{"bytes", "4 MiB"}};
      json["timed_as"] = "step";
      json["numerics"] = "off";
      json["collectives"].push_back({{"algorithm", algorithm}});
      (collective == "all-reduce" ? whole : halves) += run(json).runs[0].time_s;
    }
    CAPTURE(algorithm);
    CHECK(whole + start_s == Approx(halves).epsilon(0.05));
  }
}

}  // namespace
}  // namespace equarx::testing::algorithms_test
