// Every number format, in a collective.
#include <map>
#include <string>
#include <vector>

#include "base/input/json.hpp"
#include "models/formats/block_format.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::testing::formats_test {
namespace {

using numerics::ElementFormat;

/// Runs every format on one small tensor, with all checks of run_experiment(); by label.
std::map<std::string, run::RunResult> run_all_formats() {
  input::Json json = input::parse_json(R"({"hardware": "tpu-v5e", "topology": {"slice": "2x2"},
    "tensor": {"shape": [70001], "dtype": "fp32"}, "collectives": []})");
  for (const std::string& name : kPlainFormats)
    json["collectives"].push_back(
        {{"label", "plain " + name}, {"algorithm", "ring"}, {"format", name}});
  for (const numerics::NamedFormat& named : numerics::named_formats()) {
    if (!named.format.scaled) continue;
    json["collectives"].push_back(
        {{"label", named.name}, {"algorithm", "equarx"}, {"format", named.name}});
    if (named.format.rule != numerics::ScaleRule::amax) continue;
    if (named.format.element == ElementFormat::int8 || named.name.find("fp8-") != named.name.npos)
      json["collectives"].push_back({{"label", "stochastic " + std::string(named.name)},
                                     {"algorithm", "equarx"},
                                     {"format", named.name},
                                     {"rounding", "stochastic"}});
  }
  json["collectives"].push_back({{"label", "int4 blocks"},
                                 {"algorithm", "equarx"},
                                 {"format", "int4"},
                                 {"layout", "contiguous"},
                                 {"block", 32},
                                 {"scale", "e4m3"}});
  std::map<std::string, run::RunResult> by_label;
  for (run::RunResult& one : run(json).runs) by_label[one.label] = std::move(one);
  return by_label;
}

TEST_CASE("casts round stochastically in every algorithm, without bias") {
  input::Json json = input::parse_json(R"({"hardware": "h100", "topology": {"switch": 4},
    "tensor": {"shape": [70001], "dtype": "fp32"}, "collectives": []})");
  for (const std::string algorithm :
       {"ring", "two-shot", "one-shot", "halving-doubling", "recursive-doubling"})
    for (const std::string format : {"int8-cast", "fp8-e4m3-cast"})
      json["collectives"].push_back({{"label", algorithm + " " + format},
                                     {"algorithm", algorithm},
                                     {"format", format},
                                     {"rounding", "stochastic"}});
  json["collectives"].push_back({{"label", "in the order of ranks"},
                                 {"algorithm", "two-shot"},
                                 {"format", "int8-cast"},
                                 {"rounding", "stochastic"},
                                 {"arithmetic", {{"order", "ranks"}}}});
  for (const run::RunResult& one : run(json).runs) {
    CAPTURE(one.label);
    const numerics::ErrorMetrics& errors = one.numerics->against_exact;
    CHECK(one.numerics->ranks_identical);
    CHECK(errors.nmse > 1e-5);
    CHECK(errors.nmse < 0.4);
    constexpr double kDeviations = 5.0;
    CHECK(std::abs(errors.mean_signed_error) <
          kDeviations * std::sqrt(errors.mse / static_cast<double>(errors.count)));
  }
}

TEST_CASE("every format runs in a collective, with a plausible error and size") {
  std::map<std::string, run::RunResult> runs = run_all_formats();
  for (const auto& [label, run] : runs) {
    CAPTURE(label);
    CHECK(run.numerics->ranks_identical);
    CHECK(run.time_s >= run.lower_bound_s);
    CHECK(run.numerics->against_exact.nmse < 0.2);
    CHECK(run.numerics->against_exact.count == 70001);
  }
  const auto ascending = [&](auto metric, const std::vector<std::string>& labels) {
    for (std::size_t i = 1; i < labels.size(); ++i) {
      CAPTURE(labels[i - 1], labels[i]);
      REQUIRE(runs.contains(labels[i - 1]));
      REQUIRE(runs.contains(labels[i]));
      CHECK(metric(runs[labels[i - 1]]) < metric(runs[labels[i]]));
    }
  };
  const auto error = [](const run::RunResult& run) { return run.numerics->against_exact.nmse; };
  ascending(error, {"plain fp32", "plain fp16", "plain bf16", "int8", "fp8-e4m3", "fp8-e5m2"});
  ascending(error, {"int8", "int6", "int4"});
  ascending(error, {"fp8-e4m3fnuz", "stochastic fp8-e4m3fnuz", "plain fp8-e5m2fnuz-cast"});
  ascending(error, {"fp8-e4m3fnuz", "fp8-e5m2fnuz", "stochastic fp8-e5m2fnuz"});
  ascending(error, {"mxint8", "mxfp8-e4m3", "mxfp8-e5m2", "mxfp4"});
  ascending(error, {"mxint8", "mxfp6-e2m3", "mxfp6-e3m2", "mxfp4"});
  ascending(error, {"mxfp6-e3m2", "nvfp4", "mxfp4"});
  ascending(error, {"int8", "stochastic int8"});
  ascending(error, {"fp8-e4m3", "stochastic fp8-e4m3", "plain fp8-e5m2-cast"});
  const auto bytes = [](const run::RunResult& run) { return run.wire_bytes_per_link; };
  ascending(bytes, {"mxfp4", "nvfp4", "mxfp6-e2m3", "mxfp8-e4m3", "plain bf16", "plain fp32"});
  CHECK(bytes(runs["stochastic int8"]) == bytes(runs["int8"]));
  CHECK(bytes(runs["mxfp6-e2m3"]) == bytes(runs["mxfp6-e3m2"]));
  CHECK(bytes(runs["fp8-e4m3fnuz"]) == bytes(runs["int8"]));
  ascending(bytes, {"int4", "int6", "int8"});
  ascending(bytes, {"quickreduce-int4", "quickreduce-int6", "quickreduce-int8"});
  ascending(error, {"quickreduce-int8", "quickreduce-int6", "quickreduce-int4"});
  ascending(error, {"zeropp-int8", "sdp4bit-int8", "zeropp-int4"});
  ascending(error, {"zeropp-int8", "sdp4bit-int8", "sdp4bit-int4"});
  ascending(bytes, {"zeropp-int4", "sdp4bit-int4", "zeropp-int8", "sdp4bit-int8"});
}

TEST_CASE("stochastic rounding has twice the error of nearest, and is reproducible") {
  input::Json json = changed("/tensor/shape", "[262144]");
  json["collectives"][1]["rounding"] = "stochastic";
  const run::ExperimentResult once = run(json);
  const double stochastic = once.runs[1].numerics->against_exact.nmse;
  CHECK(run(json).runs[1].numerics->against_exact.nmse == stochastic);
  json["collectives"][1]["rounding"] = "nearest";
  const double nearest = run(json).runs[1].numerics->against_exact.nmse;
  CHECK(stochastic == Approx(2.0 * nearest).epsilon(0.1));
}

}  // namespace
}  // namespace equarx::testing::formats_test
