// GPUs on a switch: whole rates, sums in the switch, NCCL's protocols, and refused configurations.
#include "base/input/json.hpp"
#include "models/hardware/chip.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::testing::switches_test {
namespace {

input::Json on_switch(const std::string& hardware, std::uint32_t gpus, const std::string& bytes,
                      const input::Json& collective) {
  return {{"hardware", hardware},
          {"topology", {{"switch", gpus}}},
          {"tensor", {{"bytes", bytes}, {"dtype", "fp16"}}},
          {"collectives", {collective}},
          {"numerics", "off"}};
}

run::RunResult result_of(const input::Json& json) { return run(json).runs.front(); }
double time_of(const input::Json& json) { return result_of(json).time_s; }

TEST_CASE("a pair of GPUs has the rate of all their links") {
  const hardware::Chip chip =
      config::read_config(on_switch("a100", 2, "1 MiB", {{"algorithm", "ring"}})).chip;
  const double rate = chip.links.value * chip.link_rate();
  const double bytes = 512.0 * 1024 * 1024;
  const run::RunResult ring = result_of(on_switch("a100", 2, "512 MiB", {{"algorithm", "ring"}}));
  CHECK(ring.time_s > bytes / rate);
  CHECK(ring.time_s < 1.1 * bytes / rate);
  CHECK(ring.bus_bytes == bytes);  // 2 (N-1)/N
  input::Json apart = on_switch("a100", 2, "512 MiB", {{"algorithm", "ring"}});
  apart["topology"] = {{"fully-connected", 2}};
  CHECK(time_of(apart) > 5.0 * ring.time_s);
}

TEST_CASE("algorithms of fully connected GPUs run on a switch, alike in both engines") {
  for (const std::string algorithm : {"ring", "two-shot", "one-shot", "halving-doubling",
                                      "recursive-doubling", "binomial-tree", "server", "nvls"}) {
    CAPTURE(algorithm);
    input::Json json = on_switch("h100", 4, "256 KiB", {{"algorithm", algorithm}});
    json["engine"] = "simgrid";
    const double simgrid_s = time_of(json);
    json["engine"] = "direct";
    CHECK(time_of(json) == Approx(simgrid_s).epsilon(1e-6));
    json["simulation"] = "full";
    CHECK(time_of(json) == Approx(simgrid_s).epsilon(1e-6));
  }
}

TEST_CASE("nodes with switches are joined by a network") {
  input::Json json = on_switch("h100", 4, "4 MiB", {{"algorithm", "hierarchical-two-shot"}});
  json["topology"]["network"] = {{"slices", 2}, {"bandwidth", "50 GB/s"}, {"latency", "5 us"}};
  json["engine"] = "simgrid";
  const run::RunResult one = result_of(json);
  CHECK(one.chips == 8);
  json["engine"] = "direct";
  CHECK(time_of(json) == Approx(one.time_s).epsilon(1e-6));
  double at_port = 0.0;
  for (const run::LinkUse& link : one.links)
    if (link.name == "1:3->switch" || link.name == "1:3->1:switch")
      at_port = static_cast<double>(link.bytes);
  CHECK(at_port == Approx(2.0 * 4 * 1024 * 1024 * 3 / 4).epsilon(1e-3));
}

TEST_CASE("sums in the switch are rounded once, as those of one-shot") {
  input::Json json = on_switch("h100", 8, "64 KiB", {{"algorithm", "one-shot"}});
  json["collectives"].push_back({{"algorithm", "nvls"}});
  json["collectives"].push_back({{"algorithm", "ring"}});
  json["numerics"] = "on";
  const run::ExperimentResult result = run(json);
  const auto nmse = [&](std::size_t i) { return result.runs[i].numerics->against_exact.nmse; };
  CHECK(nmse(1) == nmse(0));
  CHECK(nmse(2) > 2.0 * nmse(1));
  for (const run::RunResult& one : result.runs) CHECK(one.numerics->ranks_identical);
}

TEST_CASE("both halves of an AllReduce run in a switch with values, for any size") {
  for (const std::string collective : {"reduce-scatter", "all-gather"})
    for (const std::uint64_t elements : {1U, 7U, 5000U}) {
      CAPTURE(collective, elements);
      input::Json json = on_switch("h100", 3, "1 KiB", {{"algorithm", "nvls"}});
      json["collective"] = collective;
      json["tensor"] = {{"shape", {elements}}, {"dtype", "bf16"}};
      json["numerics"] = "on";
      const run::RunResult result = result_of(json);  // compares encoded and timed bytes
      CHECK(result.numerics->ranks_identical);
      if (collective == "all-gather") CHECK(result.numerics->against_exact.mse == 0.0);
    }
}

TEST_CASE("nvls carries the tensor and an Nth through a port, a ring nearly twice the tensor") {
  const double bytes = 64.0 * 1024 * 1024;
  const auto sent = [](const std::string& algorithm) {
    return static_cast<double>(
        result_of(on_switch("h100", 8, "64 MiB", {{"algorithm", algorithm}})).wire_bytes_per_link);
  };
  CHECK(sent("nvls") == Approx(bytes * 9.0 / 8.0).epsilon(1e-4));
  CHECK(sent("ring") == Approx(bytes * 2.0 * 7.0 / 8.0).epsilon(1e-4));
}

TEST_CASE("with protocols auto takes the fastest of those of NCCL") {
  for (const std::string bytes : {"1 KiB", "1 MiB", "256 MiB"}) {
    CAPTURE(bytes);
    const run::RunResult best =
        result_of(on_switch("h100", 8, bytes, {{"algorithm", "auto"}, {"protocol", "auto"}}));
    double least_s =
        time_of(on_switch("h100", 8, bytes, {{"algorithm", "nvls"}, {"protocol", "simple"}}));
    for (const std::string protocol : {"ll", "ll128", "simple"})
      least_s = std::min(
          least_s,
          time_of(on_switch("h100", 8, bytes, {{"algorithm", "ring"}, {"protocol", protocol}})));
    CHECK(best.time_s == least_s);
    const auto names = {"ring", "nvls"};
    CHECK(std::ranges::find(names, best.algorithm->name) != names.end());
  }
  const auto protocol_of = [](const std::string& bytes) {
    return result_of(on_switch("a100", 8, bytes, {{"algorithm", "ring"}, {"protocol", "auto"}}))
        .protocol;
  };
  CHECK(protocol_of("1 KiB") == hardware::Protocol::ll);
  CHECK(protocol_of("1 GiB") == hardware::Protocol::simple);
}

TEST_CASE("a protocol changes startup, hops and rate as its parameters say") {
  const hardware::Chip chip =
      config::read_config(on_switch("a100", 4, "1 MiB", {{"algorithm", "ring"}})).chip;
  const double bytes = 1024.0 * 1024;
  const double steps = 6.0;
  const double wire_s = steps * bytes / 4.0 /
                        (chip.links.value * chip.link_bandwidth.value * chip.ll_efficiency.value);
  const double time_s = time_of(on_switch(
      "a100", 4, "1 MiB", {{"algorithm", "ring"}, {"protocol", "ll"}, {"microshards", 1}}));
  const double least_s = chip.ll_startup.value + steps * chip.ll_hop_latency.value + wire_s;
  CHECK(time_s > least_s);
  CHECK(time_s < least_s + 3e-6);  // core time of six sums
}

TEST_CASE("a degraded port slows the collective, a switch cannot") {
  input::Json json = on_switch("h100", 4, "64 MiB", {{"algorithm", "two-shot"}});
  const double healthy_s = time_of(json);
  json["faults"] = {{"links", {{{"between", {"2", "switch"}}, {"bandwidth_factor", 0.5}}}}};
  CHECK(time_of(json) > 1.5 * healthy_s);
  json["faults"] = {{"chips", {{{"chip", "switch"}, {"slowdown", 2}}}}};
  check_refused([&] { plan_of(json); }, "/faults/chips/0/chip", "has no core to slow down");
}

TEST_CASE("what a switch or a chip cannot do is refused with the reason") {
  const auto refuse = [](const input::Json& json, const std::string& place,
                         const std::string& remedy) {
    CAPTURE(json.dump());
    check_refused([&] { plan_of(json); }, place, remedy);
  };
  refuse(on_switch("a100", 8, "1 MiB", {{"algorithm", "nvls"}}), "/collectives/0/algorithm",
         "that of a100 does not add (no switch_efficiency); this topology can run ring");
  refuse(on_switch("h100", 2, "1 MiB", {{"algorithm", "nvls"}}), "/collectives/0/algorithm",
         "needs at least 3 chips");
  input::Json json = on_switch("h100", 8, "1 MiB", {{"algorithm", "nvls"}});
  json["topology"] = {{"fully-connected", 8}};
  refuse(json, "/collectives/0/algorithm", "it needs all chips on one");
  refuse(on_switch("mi300x", 8, "1 MiB", {{"algorithm", "ring"}, {"protocol", "ll"}}),
         "/collectives/0/protocol", "its hardware file lacks the parameters");
  refuse(on_switch("h100", 8, "1 MiB", {{"algorithm", "nvls"}, {"protocol", "ll"}}),
         "/collectives/0/protocol", "'ll' is unknown for 'nvls'");
  refuse(on_switch("h100", 8, "1 MiB", {{"algorithm", "ring"}, {"protocol", "LL"}}),
         "/collectives/0/protocol", "did you mean 'll'?");
  refuse(on_switch("h100", 8, "1 MiB", {{"algorithm", "nvls"}, {"format", "fp8lm-e4m3"}}),
         "/collectives/0/format", "has one scale for all ranks, which a switch does not know");
  json = on_switch("h100", 1, "1 MiB", {{"algorithm", "ring"}});
  refuse(json, "/topology/switch", "from 2 to 1024");
  json["topology"] = {{"switch", 4}, {"avoid", {{"0", "1"}}}};
  refuse(json, "/topology/avoid", "which a switch has none of");
}

}  // namespace
}  // namespace equarx::testing::switches_test
