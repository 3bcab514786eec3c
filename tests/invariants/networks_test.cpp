// Slices connected by a network: traffic, times and refused configurations.
#include <fmt/format.h>

#include "base/input/json.hpp"
#include "models/hardware/chip.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::testing::networks_test {
namespace {

constexpr double kBytes = 8.0 * 1024 * 1024;

/// An AllReduce of 8 MiB over slices of 4x2 (or `topology`).
input::Json slices(std::uint32_t count, const std::string& bandwidth,
                   const std::string& latency = "10 us",
                   const std::string& topology = R"({"slice": "4x2"})") {
  input::Json json = {{"hardware", "tpu-v5e"},
                      {"topology", input::parse_json(topology)},
                      {"tensor", {{"bytes", "8 MiB"}}},
                      {"collectives", {{{"algorithm", "hierarchical"}}}},
                      {"numerics", "off"}};
  json["topology"]["network"] = {{"slices", count}, {"bandwidth", bandwidth}, {"latency", latency}};
  return json;
}

/// Blocks of 128 between slices, for any cut of their parts.
const input::Json kInt8 = {{"format", "int8"}, {"layout", "contiguous"}, {"block", 128}};

double time_of(const input::Json& json) { return run(json).runs.front().time_s; }

/// Bytes sent by the busiest port.
std::uint64_t port_bytes(const run::RunResult& one) {
  std::uint64_t most = 0;
  for (const run::LinkUse& link : one.links)
    if (link.to == "network") most = std::max(most, link.bytes);
  return most;
}

TEST_CASE("a chip sends exactly its share of the tensor to each other slice and back") {
  for (const std::uint32_t count : {2U, 3U, 4U})
    for (const std::string algorithm : {"hierarchical", "hierarchical-two-shot", "qgz"}) {
      CAPTURE(count, algorithm);
      input::Json json = slices(count, "10 GB/s");
      json["collectives"][0]["algorithm"] = algorithm;
      const double shard = kBytes / (8.0 * count);
      CHECK(static_cast<double>(port_bytes(run(json).runs.front())) ==
            Approx(2.0 * shard * (count - 1)).epsilon(0.002));
      // With eight bits between slices half of it, plus the scales.
      json["collectives"][0]["between"] = kInt8;
      CHECK(static_cast<double>(port_bytes(run(json).runs.front())) ==
            Approx(shard * (count - 1) * (1.0 + 4.0 / 128.0)).epsilon(0.05));
    }
}

TEST_CASE("a network adds the time of its ports' bytes and twice its latency") {
  // Compared with a network without delay: its two phases then only take core time, which both
  // have.
  const double free_s = time_of(slices(2, "1000 TB/s", "0 s"));
  const double port_s = 2.0 * kBytes / 16.0 / 1e9;  // a shard of 1/16 each way at 1 GB/s
  CHECK(time_of(slices(2, "1 GB/s", "0 s")) - free_s == Approx(port_s).epsilon(0.02));
  const double late_s =
      time_of(slices(2, "1 GB/s", "100 us")) - time_of(slices(2, "1 GB/s", "0 s"));
  CHECK(late_s == Approx(200e-6).epsilon(1e-6));
}

TEST_CASE("chips that share a port share its rate") {
  input::Json json = slices(2, "1 GB/s", "0 s");
  json["topology"]["network"]["chips_per_port"] = 8;
  const double shared_s = time_of(json);
  CHECK(shared_s > 8.0 * 2.0 * kBytes / 16.0 / 1e9);
  json["topology"]["network"]["bandwidth"] = "8 GB/s";
  CHECK(time_of(json) == Approx(time_of(slices(2, "1 GB/s", "0 s"))).epsilon(0.02));
}

TEST_CASE("a faster network is never slower, and a slow enough one dominates") {
  double before = std::numeric_limits<double>::infinity();
  for (const char* bandwidth : {"1 GB/s", "3 GB/s", "12.5 GB/s", "50 GB/s"}) {
    const run::RunResult one = run(slices(4, bandwidth)).runs.front();
    CHECK(one.time_s < before);
    CHECK(one.time_s >= one.lower_bound_s);
    before = one.time_s;
  }
  input::Json json = slices(2, "1 GB/s");
  json["collectives"].push_back({{"algorithm", "hierarchical"}, {"between", kInt8}});
  json["collectives"].push_back({{"algorithm", "hierarchical"}, {"format", "int8"}});
  const run::ExperimentResult result = run(json);
  // Half of the bytes; the fast links within slices save less than the slow network.
  const double within_saved = result.runs[1].time_s - result.runs[2].time_s;
  const double between_saved = result.runs[0].time_s - result.runs[1].time_s;
  CHECK(result.runs[0].time_s / result.runs[1].time_s > 1.6);
  CHECK(between_saved > 3.0 * within_saved);
}

TEST_CASE("a hierarchical AllReduce beats algorithms without slices") {
  input::Json json = slices(2, "3.125 GB/s");
  json["collectives"] = {{{"algorithm", "hierarchical"}}, {{"algorithm", "two-shot"}}};
  const run::ExperimentResult result = run(json);
  CHECK(result.runs[0].time_s < 0.5 * result.runs[1].time_s);
  json["collectives"] = {{{"algorithm", "auto"}}};
  const run::ExperimentResult chosen = run(json);
  CHECK(chosen.runs[0].time_s == result.runs[0].time_s);
}

TEST_CASE("engines agree on machines with networks") {
  for (const std::string topology : {R"({"slice": "4x2"})", R"({"fully-connected": 4})"})
    for (const std::string algorithm : {"hierarchical", "hierarchical-two-shot", "two-shot"}) {
      if (algorithm == "hierarchical" && topology.find("slice") == std::string::npos) continue;
      CAPTURE(topology, algorithm);
      input::Json json = slices(2, "5 GB/s", "3 us", topology);
      json["tensor"]["bytes"] = "256 KiB";
      json["topology"]["network"]["chips_per_port"] = 2;
      json["collectives"] = {{{"algorithm", algorithm}, {"format", "int8"}}};
      json["engine"] = "simgrid";
      const double simgrid_s = time_of(json);
      json["engine"] = "direct";
      CHECK(time_of(json) == Approx(simgrid_s).epsilon(1e-6));
    }
}

TEST_CASE("unsupported settings on a network are refused with the supported ones") {
  const auto refuse = [](input::Json json, const std::string& place, const std::string& remedy) {
    CAPTURE(json.dump());
    check_refused([&] { plan_of(json); }, place, remedy);
  };
  input::Json json = slices(2, "10 GB/s");
  json["collectives"] = {{{"algorithm", "torus"}}};
  refuse(json, "/collectives/0/algorithm",
         "'torus' does not run across a network; this topology can run two-shot, one-shot, "
         "hierarchical, hierarchical-two-shot, auto");
  json["collectives"] = {{{"algorithm", "recursive-doubling"}}};
  refuse(json, "/collectives/0/algorithm", "does not run across a network");
  json["collectives"] = {{{"algorithm", "ring"}}};
  refuse(json, "/collectives/0/algorithm", "does not run across a network");
  json["topology"].erase("network");
  json["collectives"] = {{{"algorithm", "hierarchical"}}};
  refuse(json, "/collectives/0/algorithm",
         "'hierarchical' is for slices that a network joins (/topology/network)");
  refuse(slices(2, "10 GB/s", "1 us", R"({"fully-connected": 4})"), "/collectives/0/algorithm",
         "'hierarchical' needs a grid of chips");
}

}  // namespace
}  // namespace equarx::testing::networks_test
