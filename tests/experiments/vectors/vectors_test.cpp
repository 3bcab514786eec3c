#include "experiments/vectors/vectors.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/input/errors.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/rank_files.hpp"

namespace equarx::vectors::vectors_test {
namespace {

using input::Json;

Json config_of(const Json& collectives, const Json& topology = {{"switch", 4}}) {
  return {{"hardware", "h100"},
          {"topology", topology},
          {"tensor", {{"shape", {4096}}, {"dtype", "bf16"}}},
          {"collectives", collectives}};
}

Vectors made(const Json& config, const std::vector<std::string>& cases = {}) {
  return make_vectors(config::read_config(config), select_cases(cases), [](const std::string&) {});
}

void check_refused(const Json& config, const std::string& pointer) {
  try {
    made(config, {"ties"});
    FAIL("no InputError was thrown");
  } catch (const input::InputError& error) {
    CHECK(error.pointer() == pointer);
  }
}

std::uint64_t delivered(const std::vector<values::ResultPart>& parts) {
  std::uint64_t elements = 0;
  for (const values::ResultPart& part : parts) elements += part.range.size();
  return elements;
}

/// Checks that all ranks have whole results, and that some steps have all terms.
void check_whole(const CaseVectors& one) {
  const std::uint64_t elements = one.inputs.front().size();
  CAPTURE(one.info.name);
  for (const auto& parts : one.record.results) CHECK(delivered(parts) == elements);
  CHECK(std::ranges::any_of(one.record.steps, [&](const values::RecordedStep& step) {
    return step.terms.size() == one.inputs.size();
  }));
  CHECK(one.rounded_once.size() == elements);
}

}  // namespace

TEST_CASE("every algorithm gives whole results on all ranks, or a reason") {
  const Json all = Json::parse(R"([{"algorithm": "ring"}, {"algorithm": "one-shot"},
    {"algorithm": "two-shot"}, {"algorithm": "nvls"},
    {"algorithm": "quickreduce", "format": "quickreduce-int8"},
    {"algorithm": "one-shot", "format": "fp8lm-e4m3"}, {"algorithm": "two-shot", "hadamard": true, "format": "int4"},
    {"algorithm": "recursive-doubling"}, {"algorithm": "halving-doubling"},
    {"algorithm": "two-shot", "format": "int8"}, {"algorithm": "equarx", "format": "int8"},
    {"algorithm": "one-shot", "format": "mxfp8-e4m3"},
    {"algorithm": "two-shot", "format": "int8", "label": "kept", "arithmetic": {"owner": "summed"}},
    {"algorithm": "two-shot", "label": "fused", "arithmetic": {"residual": "after"}},
    {"algorithm": "ring", "cast_to": "fp8-e5m2"}])");
  const Vectors vectors = made(config_of(all));
  REQUIRE(vectors.collectives.size() == all.size());
  for (const CollectiveVectors& one : vectors.collectives) {
    CAPTURE(one.config.label);
    CHECK(one.cases.size() + one.not_run.size() == all_cases().size());
    CHECK(one.cases.size() + 1 >= all_cases().size());
    for (const CaseVectors& vector : one.cases) check_whole(vector);
    for (const NotRun& left : one.not_run) CHECK_FALSE(left.reason.empty());
    CHECK(one.deterministic);
  }
}

TEST_CASE("algorithms across a network have whole results") {
  const Json nodes = {
      {"switch", 2},
      {"network",
       {{"slices", 2}, {"bandwidth", "48 GB/s"}, {"latency", "0 s"}, {"chips_per_port", 1}}}};
  const Json all = Json::parse(R"([{"algorithm": "node-ring"}, {"algorithm": "tree"},
    {"algorithm": "hierarchical-two-shot"},
    {"algorithm": "hierarchical-two-shot", "format": "int8"}])");
  const Vectors vectors = made(config_of(all, nodes));
  for (const CollectiveVectors& one : vectors.collectives) {
    CAPTURE(one.config.label);
    CHECK(one.cases.size() + 1 >= all_cases().size());
    for (const CaseVectors& vector : one.cases) check_whole(vector);
  }
}

TEST_CASE("torus and hierarchical algorithms have whole results") {
  Json torus = config_of(Json::parse(R"([{"algorithm": "torus"}, {"algorithm": "equarx"}])"),
                         {{"slice", "4x2"}});
  torus["hardware"] = "tpu-v5e";
  const Vectors vectors = made(torus);
  for (const CollectiveVectors& one : vectors.collectives)
    for (const CaseVectors& vector : one.cases) check_whole(vector);
}

TEST_CASE("a ReduceScatter gives every rank its shard") {
  Json config = config_of(Json::parse(R"([{"algorithm": "ring"}])"));
  config["collective"] = "reduce-scatter";
  const Vectors vectors = made(config);
  for (const CaseVectors& one : vectors.collectives[0].cases) {
    std::uint64_t elements = 0;
    for (const auto& parts : one.record.results) elements += delivered(parts);
    CHECK(elements == one.inputs.front().size());
  }
}

TEST_CASE("one rounding gives the rounded exact sum where FP32 sums are exact") {
  const Vectors vectors = made(config_of(Json::parse(R"([{"algorithm": "one-shot"}])")),
                               {"ties", "subnormals", "one-element"});
  for (const CaseVectors& one : vectors.collectives[0].cases) {
    const std::vector<float>& result = one.record.results[3].front().values;
    CHECK(result == one.rounded_once);
  }
}

TEST_CASE("the given values are the first of the configuration's tensor") {
  const Vectors vectors = made(config_of(Json::parse(R"([{"algorithm": "one-shot"}])")), {"given"});
  const CaseVectors& one = vectors.collectives[0].cases.front();
  CHECK(one.inputs.front().size() == kMostGiven);
  std::vector<float> first(kMostGiven);
  numerics::generate({}, 2, 0, first);
  CHECK(std::fabs(one.inputs[2][5] - first[5]) < 0.01F * std::fabs(first[5]));
}

TEST_CASE("random rounding is not deterministic") {
  const Vectors vectors =
      made(config_of(Json::parse(
               R"([{"algorithm": "two-shot", "format": "int8", "rounding": "stochastic"}])")),
           {"normal"});
  CHECK_FALSE(vectors.collectives[0].deterministic);
}

TEST_CASE("an open algorithm is the one for the size of the tensor") {
  Json config = config_of(Json::parse(R"([{"algorithm": "auto"}])"));
  const Vectors vectors = made(config, {"ties"});
  CHECK(vectors.collectives[0].config.algorithm->name != "auto");
  CHECK(vectors.collectives[0].cases.size() == 1);
}

TEST_CASE("collectives without sums and too many ranks have no golden vectors") {
  Json gather = config_of(Json::parse(R"([{"algorithm": "ring"}])"));
  gather["collective"] = "all-gather";
  check_refused(gather, "/collective");
  Json large = config_of(Json::parse(R"([{"algorithm": "ring"}])"), {{"slice", "16x8"}});
  large["hardware"] = "tpu-v5e";
  check_refused(large, "/topology");
}

}  // namespace equarx::vectors::vectors_test
