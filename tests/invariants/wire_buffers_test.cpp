// Location of wire buffers: on the chip, or in HBM, which DMAs and cores then share.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "experiments/result/json.hpp"
#include "experiments/result/table.hpp"
#include "sim/machine.hpp"
#include "tests/catch.hpp"
#include "tests/invariants/machine_cases.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/step_runs.hpp"
#include "tests/support/workloads.hpp"

namespace equarx::testing::wire_buffers_test {
namespace {

constexpr double kExact = 1e-9;

/// Plain and quantized, on a ring and on all axes at once.
input::Json all_reduces(const std::string& hardware, const std::string& topology,
                        const std::string& bytes) {
  return {{"hardware", hardware},
          {"topology", input::parse_json(topology)},
          {"tensor", {{"bytes", bytes}}},
          {"collectives",
           {{{"algorithm", "ring"}},
            {{"algorithm", "equarx"}, {"format", "int8"}, {"ring", "semi-loop"}},
            {{"algorithm", "torus"}},
            {{"algorithm", "torus"}, {"format", "int8"}}}},
          {"numerics", "off"},
          {"wire_buffers", "hbm"}};
}

/// TPU v5e with a different HBM and queues that never fill.
input::Json chip_with_hbm(const std::string& bandwidth) {
  input::Json chip = tpu_v5e();
  chip["parameters"]["hbm_bandwidth"]["value"] = bandwidth;
  chip["parameters"]["dma_queue"]["value"] = 1000;
  return chip;
}

std::vector<double> times_with(input::Json json, const input::Json& chip) {
  const TemporaryFile file(chip.dump());
  json["hardware"] = file.path();
  std::vector<double> times;
  for (const run::RunResult& one : run(json).runs) times.push_back(one.time_s);
  return times;
}

TEST_CASE(
    "by default HBM is simulated if and only if it is slower than all links of a chip together") {
  // Two links of 90 GB/s; bytes are read at the sender and written at the receiver.
  const auto buffers = [](const std::string& hbm) {
    input::Json json = all_reduces("tpu-v6e", R"({"ring": 8})", "1 MiB");
    json.erase("wire_buffers");
    json["collectives"] = {{{"algorithm", "ring"}}};
    json["hardware"] = {{"based_on", "tpu-v6e"},
                        {"link_bandwidth", "90 GB/s"},
                        {"link_efficiency", 1.0},
                        {"hbm_efficiency", 1.0},
                        {"hbm_bandwidth", hbm}};
    return config::read_config(json).wire_buffers;
  };
  CHECK(buffers("361 GB/s") == collectives::WireBuffers::vmem);
  CHECK(buffers("359 GB/s") == collectives::WireBuffers::hbm);
}

TEST_CASE("wire buffers are in VMEM by default") {
  input::Json json = all_reduces("tpu-v6e", R"({"torus": "4x4"})", "64 MiB");
  const run::ExperimentResult in_hbm = run(json);
  json["wire_buffers"] = "vmem";
  const run::ExperimentResult in_vmem = run(json);
  json.erase("wire_buffers");
  const run::ExperimentResult by_default = run(json);
  for (std::size_t i = 0; i < in_hbm.runs.size(); ++i) {
    CHECK(by_default.runs[i].time_s == in_vmem.runs[i].time_s);
    CHECK_FALSE(in_vmem.runs[i].hbm_busy_share);
    CHECK(in_hbm.runs[i].time_s >= in_vmem.runs[i].time_s * (1.0 - 1e-12));
    CHECK(in_hbm.runs[i].wire_bytes_per_link >= in_vmem.runs[i].wire_bytes_per_link);
  }
  CHECK(in_hbm.runs[2].time_s > 1.05 * in_vmem.runs[2].time_s);  // four links at once
}

TEST_CASE("representative chips have the timing of all chips with HBM shared with DMAs") {
  for (const auto& [hardware, topology] :
       std::vector<std::pair<std::string, std::string>>{{"tpu-v6e", R"({"torus": "4x4"})"},
                                                        {"tpu-v5e", R"({"torus": "5x3"})"},
                                                        {"tpu-v7", R"({"torus": "4x4x4"})"},
                                                        {"tpu-v5p", R"({"torus": "2x3x4"})"}}) {
    CAPTURE(hardware, topology);
    input::Json json = all_reduces(hardware, topology, "16 MiB");
    if (topology == R"({"torus": "5x3"})") {  // has no ring, which the first two algorithms require
      json["collectives"].erase(0);
      json["collectives"].erase(0);
    }
    const run::ExperimentResult few = run(json);
    json["simulation"] = "full";
    const run::ExperimentResult all = run(json);
    for (std::size_t i = 0; i < few.runs.size(); ++i) {
      CAPTURE(few.runs[i].label);
      CHECK(few.runs[i].symmetric);
      CHECK_FALSE(all.runs[i].symmetric);
      CHECK(few.runs[i].time_s == Approx(all.runs[i].time_s).epsilon(kExact));
      CHECK(few.runs[i].lower_bound_s == Approx(all.runs[i].lower_bound_s).epsilon(kExact));
      CHECK(*few.runs[i].hbm_busy_share == Approx(*all.runs[i].hbm_busy_share).epsilon(kExact));
    }
  }
}

TEST_CASE(
    "every algorithm runs with wire buffers in HBM, alike on both engines and above its bound") {
  for (const MachineCase& machine_case : machine_cases())
    for (const std::string format : {"bf16", "int8"}) {
      input::Json json = experiment(machine_case.topology, "all-reduce");
      json["tensor"] = {{"bytes", "1 MiB"}};
      json["numerics"] = "off";
      json["wire_buffers"] = "hbm";
      add_algorithms(json, format);
      CAPTURE(json.dump());
      json["engine"] = "direct";
      const run::ExperimentResult direct = run(json);
      json["engine"] = "simgrid";
      const run::ExperimentResult simgrid = run(json);
      for (std::size_t i = 0; i < direct.runs.size(); ++i) {
        const run::RunResult& one = direct.runs[i];
        const bool streams = one.algorithm->layout == collectives::RankLayout::nodes;
        const double differs =
            streams ? 0.02 : 1e-7;  // order of their sends; microseconds in ticks
        CHECK(one.time_s == Approx(simgrid.runs[i].time_s).epsilon(differs));
        CHECK(one.time_s >= one.lower_bound_s * (1.0 - sim::kBoundRounding));
        CHECK(*one.hbm_busy_share > 0.0);
        CHECK(*one.hbm_busy_share <= 1.0 + kExact);
      }
    }
}

TEST_CASE("a faster HBM is never slower, and an infinite one equals buffers in VMEM") {
  for (const std::string topology : {R"({"ring": 8})", R"({"torus": "4x4"})"}) {
    input::Json json = all_reduces("", topology, "16 MiB");
    for (input::Json& collective : json["collectives"]) collective["microshards"] = 4;
    std::vector<double> slower = times_with(json, chip_with_hbm("50 GB/s"));
    for (const std::string bandwidth : {"100 GB/s", "200 GB/s", "400 GB/s", "800 GB/s", "2 TB/s"}) {
      const std::vector<double> faster = times_with(json, chip_with_hbm(bandwidth));
      for (std::size_t i = 0; i < faster.size(); ++i) {
        CAPTURE(topology, bandwidth, i);
        CHECK(faster[i] <= slower[i] * (1.0 + kExact));
      }
      slower = faster;
    }
    const std::vector<double> endless = times_with(json, chip_with_hbm("1000000000 TB/s"));
    json["wire_buffers"] = "vmem";
    const std::vector<double> vmem = times_with(json, chip_with_hbm("1000000000 TB/s"));
    for (std::size_t i = 0; i < vmem.size(); ++i)
      CHECK(endless[i] == Approx(vmem[i]).epsilon(kExact));
  }
}

TEST_CASE("if HBM is slowest, it is the bound, and busy nearly all the time") {
  // In a plain AllReduce, each chip sends and receives 2 (N-1)/N V, and sums (N-1)/N V: reads two,
  // writes one.
  const std::string bytes = "33554432 B";
  const double kBytes = 33554432.0;
  input::Json json = all_reduces("", R"({"ring": 8})", bytes);
  json["collectives"] = {{{"algorithm", "ring"}, {"minishards", 1}, {"microshards", 8}}};
  const TemporaryFile file(chip_with_hbm("60 GB/s").dump());
  json["hardware"] = file.path();
  const run::RunResult one = run(json).runs.front();
  const double hbm_bytes = (4.0 + 3.0) * 7.0 / 8.0 * kBytes;
  CHECK(one.lower_bound_s == Approx(hbm_bytes / 60e9));
  CHECK(one.time_s >= one.lower_bound_s);
  CHECK(*one.hbm_busy_share == Approx(one.lower_bound_s / one.time_s));
  CHECK(*one.hbm_busy_share > 0.9);
  json["wire_buffers"] = "vmem";
  check_refused([&] { run(json); }, "/hardware", "hbm_bandwidth");
}

TEST_CASE("a result lists links but not HBM, and reports HBM utilization") {
  input::Json json = all_reduces("tpu-v6e", R"({"mesh": "4x2"})", "4 MiB");
  json["simulation"] = "full";
  const run::ExperimentResult in_hbm = run(json);
  json["wire_buffers"] = "vmem";
  const run::ExperimentResult in_vmem = run(json);
  for (std::size_t i = 0; i < in_hbm.runs.size(); ++i) {
    REQUIRE(in_hbm.runs[i].links.size() == in_vmem.runs[i].links.size());
    for (std::size_t link = 0; link < in_hbm.runs[i].links.size(); ++link)
      CHECK(in_hbm.runs[i].links[link].name == in_vmem.runs[i].links[link].name);
    const run::Breakdown& parts = in_hbm.runs[i].breakdown;
    CHECK(parts.payload_s + parts.scales_s + parts.sync_s + parts.startup_s + parts.idle_s ==
          Approx(in_hbm.runs[i].time_s));
  }
  const input::Json shown = result::to_json(in_hbm, {.links = true});
  CHECK_NOTHROW(input::check_schema(shown, "result"));
  CHECK(shown["config"]["wire_buffers"] == "hbm");
  CHECK(shown["runs"][0]["hbm_busy_share"] == *in_hbm.runs[0].hbm_busy_share);
  CHECK_FALSE(result::to_json(in_vmem)["runs"][0].contains("hbm_busy_share"));
  CHECK_THAT(result::to_table(in_hbm, {.verbose = true}),
             ContainsSubstring("Busiest HBM, shared by DMAs and cores"));
  CHECK_THAT(result::to_table(in_hbm), ContainsSubstring("of the busiest link direction or HBM"));
  CHECK_THAT(result::to_table(in_vmem, {.verbose = true}), !ContainsSubstring("HBM"));
}

TEST_CASE("auto takes the fastest candidate with shared HBM") {
  input::Json json = all_reduces("tpu-v6e", R"({"torus": "4x4"})", "64 MiB");
  json["collectives"] = {{{"algorithm", "auto"}},
                         {{"algorithm", "ring"}},
                         {{"algorithm", "torus"}},
                         {{"algorithm", "halving-doubling"}}};
  const run::ExperimentResult result = run(json);
  for (const run::RunResult& one : result.runs) CHECK(result.runs[0].time_s <= one.time_s);
}

TEST_CASE("a phase with shared HBM takes the same time on all and on representative chips") {
  const TemporaryFile model(tiny_model().dump());
  input::Json json = workload_config(model.path());
  json["wire_buffers"] = "hbm";
  const step::StepResult parts = run_step(json);
  json["simulation"] = "full";
  const step::StepResult whole = run_step(json);
  for (std::size_t i = 0; i < parts.runs.size(); ++i)
    CHECK(parts.runs[i].time_s == Approx(whole.runs[i].time_s).epsilon(kExact));
  json["workload"]["chunks"] = 2;
  for (const step::VariantResult& one : run_step(json).runs)
    CHECK(one.time_s >= one.lower_bound_s * (1.0 - sim::kBoundRounding));
}

}  // namespace
}  // namespace equarx::testing::wire_buffers_test
