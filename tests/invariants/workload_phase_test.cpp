// A transformer's phase as a whole, and its invariants.
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "experiments/input/json.hpp"
#include "experiments/input/schema.hpp"
#include "experiments/result/json.hpp"
#include "experiments/result/table.hpp"
#include "tests/catch.hpp"
#include "tests/support/workloads.hpp"

namespace equarx::invariants::workload_phase_test {
namespace {

using testing::changed;
using testing::run;
using testing::TemporaryFile;
using testing::tiny_model;
using testing::workload_config;

constexpr double kExact = 1e-9;

input::Json prefill(const std::string& model, const std::string& slice, std::uint64_t tokens) {
  return changed(workload_config(model, tokens), "/topology/slice", slice);
}

/// Result of the first collective.
run::RunResult first_run(const input::Json& json) { return run(json).runs.front(); }

/// The whole phase on every chip equals the extrapolation from one layer of each kind.
TEST_CASE("repeated layers take the time of the whole phase in full") {
  input::Json local = tiny_model();
  const TemporaryFile model(local.dump());
  for (const bool skips : {false, true}) {
    input::Json json = workload_config(model.path());
    json["workload"]["attention"] = {{"skips_outside_window", skips}};
    const run::ExperimentResult parts = run(json);
    const run::ExperimentResult whole = run(changed(json, "/simulation", "full"));
    for (std::size_t i = 0; i < parts.runs.size(); ++i) {
      const run::RunResult& part = parts.runs[i];
      const run::RunResult& all = whole.runs[i];
      CHECK(part.phase->layers_repeated);
      CHECK_FALSE(all.phase->layers_repeated);
      CHECK(all.messages > part.messages);
      CHECK(part.time_s == Approx(all.time_s).epsilon(kExact));
      CHECK(part.core_busy_s == Approx(all.core_busy_s).epsilon(kExact));
      CHECK(part.lower_bound_s == Approx(all.lower_bound_s).epsilon(kExact));
      CHECK(part.wire_bytes_per_link == all.wire_bytes_per_link);
    }
  }
}

TEST_CASE("a phase is the sum of its compute and its isolated AllReduces") {
  const TemporaryFile model(tiny_model().dump());
  const input::Json json = workload_config(model.path());
  input::Json alone = json;
  alone.erase("workload");
  alone["tensor"] = {{"shape", {256, 512}}};
  const run::ExperimentResult phase = run(json);
  const run::ExperimentResult one = run(alone);
  for (std::size_t i = 0; i < phase.runs.size(); ++i) {
    const run::PhaseResult& parts = *phase.runs[i].phase;
    CHECK(parts.allreduces == 14);
    CHECK(parts.allreduce_s == Approx(14 * one.runs[i].time_s).epsilon(kExact));
    CHECK(parts.compute_s + parts.allreduce_s == Approx(phase.runs[i].time_s).epsilon(kExact));
    CHECK(phase.runs[i].wire_bytes_per_link == 14 * one.runs[i].wire_bytes_per_link);
  }
}

TEST_CASE("overlap saves no more than possible and costs no more than re-reading weights") {
  const TemporaryFile model(tiny_model().dump());
  const input::Json json = workload_config(model.path(), 1024);
  const run::ExperimentResult turns = run(json);
  for (const std::string chunks : {"2", "4"}) {
    const run::ExperimentResult beside = run(changed(json, "/workload/chunks", chunks));
    input::Json alone = json;
    alone.erase("workload");
    alone["tensor"] = {{"shape", {1024 / std::stoul(chunks), 512}}};
    const run::ExperimentResult one = run(alone);
    for (std::size_t i = 0; i < turns.runs.size(); ++i) {
      const run::RunResult& result = beside.runs[i];
      const run::PhaseResult& phase = *result.phase;
      CAPTURE(chunks, result.label);
      CHECK(result.time_s >= result.lower_bound_s * (1.0 - kExact));
      CHECK(result.time_s >= phase.compute_s * (1.0 - kExact));
      // Everything sequential, in chunks.
      CHECK(result.time_s <=
            (phase.compute_s + phase.allreduces * one.runs[i].time_s) * (1.0 + kExact));
      CHECK(phase.compute_s >= turns.runs[i].phase->compute_s);
    }
  }
}

TEST_CASE("results of workloads fit their schema") {
  const TemporaryFile model(tiny_model().dump());
  input::Json failing = changed(workload_config(model.path(), 64), "/simulation", "full");
  failing["faults"] = {{"links", {{{"between", {"(0,0)", "(0,1)"}}, {"fails_at", "10 us"}}}}};
  for (const input::Json& json :
       {workload_config(model.path(), 64),
        changed(workload_config(model.path(), 64), "/numerics", "on"),
        changed(workload_config(model.path(), 64), "/workload/chunks", "2"), failing}) {
    const input::Json result = result::to_json(run(json));
    CHECK_NOTHROW(input::check_schema(result, "result"));
    CHECK(result["operations"].size() == 14);
    CHECK(result["config"]["workload"]["model"] == model.path());
    for (const input::Json& one : result["runs"])
      CHECK(one["allreduce_count"].get<int>() % 14 == 0);
  }
}

TEST_CASE("a link failure ends the phase, and the result omits what did not happen") {
  const TemporaryFile model(tiny_model().dump());
  input::Json json = changed(workload_config(model.path(), 64), "/simulation", "full");
  json["faults"] = {{"links", {{{"between", {"(0,0)", "(0,1)"}}, {"fails_at", "10 us"}}}}};
  const run::ExperimentResult result = run(json);
  REQUIRE(result.runs[0].failure.has_value());
  const input::Json shown = result::to_json(result);
  CHECK(shown["runs"][0]["time_s"].is_null());
  CHECK(shown["runs"][0]["allreduce_s"].is_null());
  CHECK(shown["runs"][0]["speedup"].is_null());
  CHECK_THAT(result::to_table(result), ContainsSubstring("fails at"));
}

TEST_CASE("matrices, attention and element-wise work sum to the compute time, on a slow chip too") {
  const TemporaryFile model(tiny_model().dump());
  input::Json decode = workload_config(model.path());
  decode["workload"] = {
      {"model", model.path()}, {"phase", "decode"}, {"context", 300}, {"batch", 2}};
  input::Json slow = workload_config(model.path());
  slow["faults"] = {{"chips", {{{"chip", "(0,0)"}, {"slowdown", 2.0}}}}};
  for (const input::Json& json : {workload_config(model.path()), decode, slow}) {
    const run::PhaseResult phase = *first_run(json).phase;
    CHECK(phase.matrix_s > 0.0);
    CHECK(phase.attention_s > 0.0);
    CHECK(phase.elementwise_s > 0.0);
    CHECK(phase.compute_s ==
          Approx(phase.matrix_s + phase.attention_s + phase.elementwise_s).epsilon(kExact));
  }
}

TEST_CASE("a slow chip slows the phase accordingly, and the bound holds") {
  const TemporaryFile model(tiny_model().dump());
  input::Json json = workload_config(model.path());
  const run::RunResult even = first_run(json);
  json["faults"] = {{"chips", {{{"chip", "(0,0)"}, {"slowdown", 2.0}}}}};
  const run::RunResult slow = first_run(json);
  CHECK_FALSE(slow.symmetric);
  CHECK(slow.phase->compute_s == Approx(2.0 * even.phase->compute_s));
  CHECK(slow.time_s >= slow.phase->compute_s);
  CHECK(slow.time_s > even.time_s);
  CHECK(slow.time_s >= slow.lower_bound_s);
  CHECK(slow.core_busy_s >= slow.phase->compute_s);
}

TEST_CASE("a workload supports any AllReduce, on asymmetric machines too") {
  const TemporaryFile model(tiny_model().dump());
  input::Json json = workload_config(model.path());
  json["topology"] = {{"mesh", "4x2"}};
  json["collectives"] = {{{"label", "torus"}, {"algorithm", "torus"}},
                         {{"label", "two-shot"}, {"algorithm", "two-shot"}, {"format", "int8"}},
                         {{"label", "halving"}, {"algorithm", "halving-doubling"}}};
  json["baseline"] = "torus";
  for (const run::RunResult& result : run(json).runs) {
    CAPTURE(result.label);
    CHECK(result.time_s > result.phase->compute_s);
    CHECK(result.time_s >= result.lower_bound_s);
    CHECK(result.phase->allreduces == 14);
  }
}

TEST_CASE("auto takes the AllReduce that is fastest in isolation") {
  const TemporaryFile model(tiny_model().dump());
  input::Json json = workload_config(model.path(), 8);
  json["collectives"] = {{{"label", "auto"}, {"algorithm", "auto"}, {"format", "bf16"}},
                         {{"label", "ring"}, {"algorithm", "ring"}, {"format", "bf16"}}};
  json["baseline"] = "ring";
  const run::ExperimentResult result = run(json);
  CHECK(result.runs[0].candidates.size() > 2);
  CHECK(result.runs[0].time_s <= result.runs[1].time_s);
}

/// Times of a prefill on a 4x4 slice, doubling the tokens each time.
std::vector<run::RunResult> doubling(const std::string& method) {
  std::vector<run::RunResult> runs;
  for (const std::uint64_t tokens : {1024, 2048, 4096, 8192, 16384}) {
    input::Json json = prefill("gemma3-27b", "4x4", tokens);
    json["collectives"] = {{{"label", "bf16"}, {"algorithm", "ring"}}};
    json["workload"]["attention"] = {{"method", method}};
    runs.push_back(first_run(json));
  }
  return runs;
}

double share(const run::RunResult& result) { return result.phase->allreduce_s / result.time_s; }

TEST_CASE("attention scores in HBM make prefill grow faster than its tokens") {
  const std::vector<run::RunResult> unfused = doubling("unfused");
  for (std::size_t i = 1; i < unfused.size(); ++i) {
    CAPTURE(i);
    const double growth = unfused[i].time_s / unfused[i - 1].time_s;
    CHECK(growth > (i == 1 ? 1.9 : 2.0));  // latencies and weights do not grow at the start
    CHECK(growth < 4.0);
    CHECK(share(unfused[i]) < share(unfused[i - 1]));
  }
  CHECK(unfused.back().time_s > 1.2 * 16.0 * unfused.front().time_s);
}

TEST_CASE(
    "without scores in HBM prefill grows nearly linearly, with a constant share of AllReduces") {
  const std::vector<run::RunResult> fused = doubling("fused");
  const std::vector<run::RunResult> unfused = doubling("unfused");
  // The rest is the arithmetic of attention, which grows with the square of the tokens as well.
  CHECK(fused[2].time_s < 2.1 * fused[1].time_s);
  for (std::size_t i = 0; i < fused.size(); ++i) {
    CHECK(fused[i].time_s < unfused[i].time_s);
    CHECK(fused[i].phase->allreduce_s == Approx(unfused[i].phase->allreduce_s).epsilon(kExact));
  }
  const double lost = share(fused.front()) - share(fused.back());
  CHECK(lost < 0.5 * (share(unfused.front()) - share(unfused.back())));
}

TEST_CASE("decoding one sequence does not benefit from quantization: it is latency-bound") {
  input::Json json = prefill("gemma3-27b", "4x4", 1);
  json["workload"] = {{"model", "gemma3-27b"}, {"phase", "decode"}, {"context", 4096}};
  json["collectives"][1]["ring"] = "semi-loop";
  const run::ExperimentResult result = run(json);
  CHECK(*result.runs[1].speedup < 1.0);
  CHECK(result.runs[0].phase->allreduce_s / 124 < 20e-6);
}

TEST_CASE("the table of a workload has its parts and errors, in lines of 120 columns") {
  const TemporaryFile model(tiny_model().dump());
  const run::ExperimentResult result =
      run(changed(workload_config(model.path()), "/numerics", "on"));
  std::istringstream lines(result::to_table(result));
  std::string line;
  while (std::getline(lines, line)) {
    CAPTURE(line);
    CHECK(line.size() <= 120);
  }
  const std::string table = result::to_table(result);
  CHECK_THAT(table, ContainsSubstring("Prefill of tiny, 256 tokens x 1 on 4 x tpu-v5e, slice 2x2"));
  for (const std::string part :
       {" compute ", "communication", "comm. share", "per AllReduce", "SQNR",
        "14 AllReduces of 256 x 512",
        "of one AllReduce of normal values, against its exact sum; not the model's output"})
    CHECK_THAT(table, ContainsSubstring(part));
  CHECK_THAT(table, !ContainsSubstring("ffn_in"));
  CHECK_THAT(result::to_table(result, {.verbose = true}),
             ContainsSubstring("ffn_in") && ContainsSubstring("one layer of each kind simulated"));
}

}  // namespace
}  // namespace equarx::invariants::workload_phase_test
