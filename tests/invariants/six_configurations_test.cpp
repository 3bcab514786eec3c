// Every configuration of EQuARX on rings of many lengths: values match theory, time is above its
// bound, and every invariant checked by run_experiment() holds.
#include <cmath>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/run/experiment.hpp"
#include "models/numerics/errors/theory.hpp"
#include "tests/catch.hpp"
#include "tests/support/error_theory.hpp"

namespace equarx::invariants::six_configurations_test {
namespace {

constexpr std::uint64_t kElements = 1 << 18;
constexpr double kLargestInt8 = 127.0;

/// A plain FP32 ring, then six configurations in each of three formats, on a ring of `chips`.
input::Json all_configurations(std::uint32_t chips) {
  input::Json json = {{"hardware", "tpu-v5e"},
                      {"topology", {{"ring", chips}}},
                      {"tensor", {{"shape", {kElements}}, {"dtype", "fp32"}}},
                      {"collectives", {{{"label", "fp32"}, {"algorithm", "ring"}}}}};
  for (const char* format : {"int8", "fp8-e4m3", "fp8-e5m2"})
    for (const char* ring : {"full-loop", "semi-loop"})
      for (const char* quantize : {"both", "reduce-scatter", "all-gather"})
        json["collectives"].push_back({{"label", fmt::format("{} {} {}", format, ring, quantize)},
                                       {"algorithm", "equarx"},
                                       {"ring", ring},
                                       {"quantize", quantize},
                                       {"format", format},
                                       {"cuts", "by-size"}});  // groups that the theory covers
  return json;
}

double theory(const config::CollectiveConfig& config, std::uint32_t ranks,
              std::uint64_t elements_per_scale) {
  const bool full = config.ring == collectives::RingStyle::full_loop;
  numerics::Edges edges;
  if (config.quantize != config::QuantizedPhases::all_gather)
    edges = full ? numerics::full_loop_edges(ranks) : numerics::semi_loop_edges(ranks);
  return testing::allreduce_nmse(numerics::uniform_quantizer_nmse(elements_per_scale, kLargestInt8),
                                 ranks, edges,
                                 config.quantize != config::QuantizedPhases::reduce_scatter);
}

TEST_CASE("six configurations x three formats, on 2 to 16 chips") {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 5U, 8U, 16U}) {
    const plan::Plan plan = plan::make_plan(config::read_config(all_configurations(ranks)));
    const run::ExperimentResult result = run::run_experiment(plan, [](const std::string&) {});
    REQUIRE(result.runs.size() == 19);
    for (std::size_t i = 0; i < result.runs.size(); ++i) {
      const run::RunResult& run = result.runs[i];
      const config::CollectiveConfig& config = plan.config.collectives[i];
      CAPTURE(ranks, run.label);
      REQUIRE(run.numerics);
      CHECK(run.numerics->ranks_identical);
      CHECK(run.time_s >= run.lower_bound_s * (1.0 - 1e-9));
      const double nmse = run.numerics->against_exact.nmse;
      if (config.format.element != numerics::ElementFormat::int8) continue;
      const std::uint64_t minishard =
          plan.collectives[i].candidates.front().program.partition.chunk_elements(0) /
          run.cut.value().minishards;
      const double expected = theory(config, ranks, minishard / numerics::kRegisterElements);
      CHECK(nmse == Approx(expected).epsilon(0.05));
    }
  }
}

TEST_CASE("fewer mantissa bits increase the error, and sums in the format more than sums in FP32") {
  input::Json json = all_configurations(8);
  for (const char* format : {"fp8-e4m3", "fp8-e5m2", "int8"})
    json["collectives"].push_back({{"label", fmt::format("plain {}", format)},
                                   {"algorithm", "ring"},
                                   {"format", fmt::format("{}-cast", format)}});
  const run::ExperimentResult result =
      run::run_experiment(plan::make_plan(config::read_config(json)), [](const std::string&) {});
  const auto nmse = [&](const std::string& label) {
    const auto run = std::ranges::find(result.runs, label, &run::RunResult::label);
    REQUIRE(run != result.runs.end());
    return run->numerics->against_exact.nmse;
  };
  CHECK(nmse("fp32") < nmse("int8 full-loop both"));
  CHECK(nmse("int8 full-loop both") < nmse("fp8-e4m3 full-loop both"));
  CHECK(nmse("fp8-e4m3 full-loop both") < nmse("fp8-e5m2 full-loop both"));
  CHECK(nmse("fp8-e4m3 full-loop both") < nmse("plain fp8-e4m3"));
  CHECK(nmse("fp8-e5m2 full-loop both") < nmse("plain fp8-e5m2"));
  // Without scales int8 has steps of 1, a large part of a standard deviation.
  CHECK(nmse("plain int8") > 100.0 * nmse("int8 full-loop both"));
}

}  // namespace
}  // namespace equarx::invariants::six_configurations_test
