// A transformer's phase as a whole, and its invariants.
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "experiments/result/step_json.hpp"
#include "experiments/result/step_table.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/step_runs.hpp"
#include "tests/support/workloads.hpp"

namespace equarx::invariants::workload_phase_test {
namespace {

using step::StepResult;
using step::VariantResult;
using testing::changed;
using testing::run_step;
using testing::TemporaryFile;
using testing::tiny_model;
using testing::workload_config;

constexpr double kExact = 1e-9;
constexpr std::uint32_t kAllReduces = 14;  // of the tiny model: two per layer

input::Json prefill(const std::string& model, const std::string& slice, std::uint64_t tokens) {
  return changed(workload_config(model, tokens), "/topology/slice", slice);
}

/// Result of the first collective.
VariantResult first_run(const input::Json& json) { return run_step(json).runs.front(); }

/// The only collective of a variant.
const step::CollectiveResult& allreduce(const VariantResult& variant) {
  REQUIRE(variant.collectives.size() == 1);
  return variant.collectives.front();
}

/// The workload's AllReduce as an experiment of its own.
run::ExperimentResult isolated(input::Json json, std::uint64_t rows) {
  json.erase("workload");
  json["timed_as"] = "step";
  json["tensor"] = {{"shape", {rows, 512}}};
  return testing::run(json);
}

TEST_CASE("representative chips take the time of all chips") {
  input::Json local = tiny_model();
  const TemporaryFile model(local.dump());
  for (const bool skips : {false, true}) {
    input::Json json = workload_config(model.path());
    json["workload"]["attention"] = {{"skips_outside_window", skips}};
    const StepResult parts = run_step(json);
    const StepResult whole = run_step(changed(json, "/simulation", "full"));
    for (std::size_t i = 0; i < parts.runs.size(); ++i) {
      const VariantResult& part = parts.runs[i];
      const VariantResult& all = whole.runs[i];
      CHECK(part.symmetric);
      CHECK_FALSE(all.symmetric);
      CHECK(all.messages > part.messages);
      CHECK(part.time_s == Approx(all.time_s).epsilon(kExact));
      CHECK(part.core_busy_s == Approx(all.core_busy_s).epsilon(kExact));
      CHECK(part.lower_bound_s == Approx(all.lower_bound_s).epsilon(kExact));
    }
  }
}

TEST_CASE("a phase is the sum of its compute and its isolated AllReduces") {
  const TemporaryFile model(tiny_model().dump());
  const input::Json json = workload_config(model.path());
  const StepResult phase = run_step(json);
  const run::ExperimentResult one = isolated(json, 256);
  for (std::size_t i = 0; i < phase.runs.size(); ++i) {
    const VariantResult& variant = phase.runs[i];
    CHECK(allreduce(variant).tasks == kAllReduces);
    CHECK(variant.exposed_s() == Approx(kAllReduces * one.runs[i].time_s).epsilon(kExact));
    CHECK(variant.compute_s + variant.exposed_s() == Approx(variant.time_s).epsilon(kExact));
  }
}

TEST_CASE("the AllReduce of a workload is reported and computed like an isolated one") {
  const TemporaryFile model(tiny_model().dump());
  const input::Json json = changed(workload_config(model.path()), "/numerics", "on");
  const StepResult phase = run_step(json);
  const run::ExperimentResult one = isolated(json, 256);
  for (std::size_t i = 0; i < phase.runs.size(); ++i) {
    const run::RunResult& within = allreduce(phase.runs[i]).run;
    const run::RunResult& alone = one.runs[i];
    CHECK(within.time_s == alone.time_s);
    CHECK(within.wire_bytes_per_link == alone.wire_bytes_per_link);
    CHECK(within.breakdown.payload_s == alone.breakdown.payload_s);
    REQUIRE(within.numerics.has_value());
    CHECK(within.numerics->against_exact.mse == alone.numerics->against_exact.mse);
    CHECK(within.numerics->against_baseline->mse == alone.numerics->against_baseline->mse);
    CHECK(phase.runs[i].error->worst_nmse == alone.numerics->against_exact.comparable_nmse());
  }
}

TEST_CASE("overlap saves no more than possible and costs no more than re-reading weights") {
  const TemporaryFile model(tiny_model().dump());
  const input::Json json = workload_config(model.path(), 1024);
  const StepResult turns = run_step(json);
  for (const std::string chunks : {"2", "4"}) {
    const StepResult overlapped = run_step(changed(json, "/workload/chunks", chunks));
    const run::ExperimentResult one = isolated(json, 1024 / std::stoul(chunks));
    for (std::size_t i = 0; i < turns.runs.size(); ++i) {
      const VariantResult& variant = overlapped.runs[i];
      const step::Efficiency& core = *variant.efficiency;
      const double compute_s = core.matrix_s + core.attention_s + core.elementwise_s;
      CAPTURE(chunks, variant.label);
      CHECK(variant.time_s >= variant.lower_bound_s * (1.0 - kExact));
      CHECK(variant.time_s >= compute_s * (1.0 - kExact));
      // Everything sequential, in chunks.
      CHECK(variant.time_s <=
            (compute_s + allreduce(variant).tasks * one.runs[i].time_s) * (1.0 + kExact));
      CHECK(compute_s >= turns.runs[i].compute_s * (1.0 - kExact));
    }
  }
}

TEST_CASE("results of workloads fit their schema") {
  const TemporaryFile model(tiny_model().dump());
  for (const input::Json& json :
       {workload_config(model.path(), 64),
        changed(workload_config(model.path(), 64), "/numerics", "on"),
        changed(workload_config(model.path(), 64), "/workload/chunks", "2")}) {
    const input::Json result = result::to_json(run_step(json));
    CHECK_NOTHROW(input::check_schema(result, "result"));
    CHECK(result["operations"].size() == 14);
    CHECK(result["config"]["workload"]["model"] == model.path());
    for (const input::Json& one : result["runs"])
      CHECK(one["collectives"][0]["tasks"].get<int>() % kAllReduces == 0);
  }
}

TEST_CASE("a link that fails is refused, as a phase cannot end without it") {
  const TemporaryFile model(tiny_model().dump());
  input::Json json = workload_config(model.path(), 64);
  json["faults"] = {{"links", {{{"between", {"(0,0)", "(0,1)"}}, {"fails_at", "10 us"}}}}};
  testing::check_refused([&] { run_step(json); }, "/faults/links", "bandwidth_factor");
}

TEST_CASE("matrices, attention and element-wise work sum to the compute time") {
  const TemporaryFile model(tiny_model().dump());
  input::Json decode = workload_config(model.path());
  decode["workload"] = {
      {"model", model.path()}, {"phase", "decode"}, {"context", 300}, {"batch", 2}};
  for (const input::Json& json : {workload_config(model.path()), decode}) {
    const VariantResult phase = first_run(json);
    const step::Efficiency& core = *phase.efficiency;
    CHECK(core.matrix_s > 0.0);
    CHECK(core.attention_s > 0.0);
    CHECK(core.elementwise_s > 0.0);
    CHECK(phase.compute_s ==
          Approx(core.matrix_s + core.attention_s + core.elementwise_s).epsilon(kExact));
  }
}

TEST_CASE("a slow chip slows the phase accordingly, and the bound holds") {
  const TemporaryFile model(tiny_model().dump());
  input::Json json = workload_config(model.path());
  const VariantResult even = first_run(json);
  json["faults"] = {{"chips", {{{"chip", "(0,0)"}, {"slowdown", 2.0}}}}};
  const VariantResult slow = first_run(json);
  CHECK_FALSE(slow.symmetric);
  CHECK(slow.time_s > even.time_s);
  CHECK(slow.time_s >= 2.0 * even.compute_s);
  CHECK(slow.time_s >= slow.lower_bound_s);
  CHECK(slow.core_busy_s >= even.core_busy_s);
}

TEST_CASE("a workload supports any AllReduce, on asymmetric machines too") {
  const TemporaryFile model(tiny_model().dump());
  input::Json json = workload_config(model.path());
  json["topology"] = {{"mesh", "4x2"}};
  json["collectives"] = {{{"label", "torus"}, {"algorithm", "torus"}},
                         {{"label", "two-shot"}, {"algorithm", "two-shot"}, {"format", "int8"}},
                         {{"label", "halving"}, {"algorithm", "halving-doubling"}}};
  json["baseline"] = "torus";
  for (const VariantResult& result : run_step(json).runs) {
    CAPTURE(result.label);
    CHECK(result.time_s > result.compute_s);
    CHECK(result.time_s >= result.lower_bound_s);
    CHECK(allreduce(result).tasks == kAllReduces);
  }
}

TEST_CASE("auto takes the AllReduce that is fastest in isolation") {
  const TemporaryFile model(tiny_model().dump());
  input::Json json = workload_config(model.path(), 8);
  json["collectives"] = {{{"label", "auto"}, {"algorithm", "auto"}, {"format", "bf16"}},
                         {{"label", "ring"}, {"algorithm", "ring"}, {"format", "bf16"}}};
  json["baseline"] = "ring";
  const StepResult result = run_step(json);
  CHECK(allreduce(result.runs[0]).run.candidates.size() > 2);
  CHECK(result.runs[0].time_s <= result.runs[1].time_s);
}

/// Times of a prefill on a 4x4 slice, doubling the tokens each time.
std::vector<VariantResult> doubling(const std::string& method) {
  std::vector<VariantResult> runs;
  for (const std::uint64_t tokens : {1024, 2048, 4096, 8192, 16384}) {
    input::Json json = prefill("gemma3-27b", "4x4", tokens);
    json["collectives"] = {{{"label", "bf16"}, {"algorithm", "ring"}}};
    json["workload"]["attention"] = {{"method", method}};
    runs.push_back(first_run(json));
  }
  return runs;
}

double share(const VariantResult& result) { return result.exposed_s() / result.time_s; }

TEST_CASE("attention scores in HBM make prefill grow faster than its tokens") {
  const std::vector<VariantResult> unfused = doubling("unfused");
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
  const std::vector<VariantResult> fused = doubling("fused");
  const std::vector<VariantResult> unfused = doubling("unfused");
  // The rest is the arithmetic of attention, which grows with the square of the tokens as well.
  CHECK(fused[2].time_s < 2.1 * fused[1].time_s);
  for (std::size_t i = 0; i < fused.size(); ++i) {
    CHECK(fused[i].time_s < unfused[i].time_s);
    CHECK(fused[i].exposed_s() == Approx(unfused[i].exposed_s()).epsilon(kExact));
  }
  const double lost = share(fused.front()) - share(fused.back());
  CHECK(lost < 0.5 * (share(unfused.front()) - share(unfused.back())));
}

TEST_CASE("decoding one sequence does not benefit from quantization: it is latency-bound") {
  input::Json json = prefill("gemma3-27b", "4x4", 1);
  json["workload"] = {{"model", "gemma3-27b"}, {"phase", "decode"}, {"context", 4096}};
  json["collectives"][1]["ring"] = "semi-loop";
  const StepResult result = run_step(json);
  CHECK(result.runs[1].speedup < 1.01);
  CHECK(result.runs[0].exposed_s() / 124 < 20e-6);
}

TEST_CASE("the table of a workload has its parts and errors, in lines of 120 columns") {
  const TemporaryFile model(tiny_model().dump());
  const StepResult result = run_step(changed(workload_config(model.path()), "/numerics", "on"));
  std::istringstream lines(result::to_table(result));
  std::string line;
  while (std::getline(lines, line)) {
    CAPTURE(line);
    CHECK(line.size() <= 120);
  }
  const std::string table = result::to_table(result);
  CHECK_THAT(table, ContainsSubstring("Prefill of tiny, 256 tokens x 1 on 4 x tpu-v5e, slice 2x2"));
  for (const std::string part : {" compute ", "exposed", "sum activations", "worst SQNR"})
    CHECK_THAT(table, ContainsSubstring(part));
  CHECK_THAT(table, !ContainsSubstring("ffn_in") && !ContainsSubstring("bytes/link"));
  CHECK_THAT(result::to_table(result, {.verbose = true}),
             ContainsSubstring("ffn_in") && ContainsSubstring("bytes/link"));
}

TEST_CASE("on one chip a workload has no AllReduces") {
  input::Json json = prefill("gemma3-12b", "1x1", 512);
  json["hardware"] = "tpu-v6e";
  const StepResult result = run_step(json);
  CHECK(result.runs[0].exposed_s() == 0.0);
  CHECK(result.runs[1].time_s == result.runs[0].time_s);
  CHECK_THAT(result::to_table(result), ContainsSubstring("One chip has no AllReduces"));
}

}  // namespace
}  // namespace equarx::invariants::workload_phase_test
