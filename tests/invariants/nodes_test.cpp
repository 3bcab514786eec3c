// Nodes of GPUs on a switch that a network joins: NCCL's rings and trees between them.
#include <cmath>

#include "base/input/json.hpp"
#include "models/hardware/chip.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::testing::nodes_test {
namespace {

constexpr double kMebi = 1024.0 * 1024.0;

input::Json on_nodes(std::uint32_t nodes, std::uint32_t gpus, const std::string& bytes,
                     const input::Json& collective) {
  return {{"hardware", "h100"},
          {"topology",
           {{"switch", gpus},
            {"network",
             {{"slices", nodes},
              {"bandwidth", "48 GB/s"},
              {"latency", "0 s"},
              {"chips_per_port", 1}}}}},
          {"tensor", {{"bytes", bytes}, {"dtype", "fp16"}}},
          {"collectives", {collective}},
          {"numerics", "off"}};
}

run::RunResult result_of(const input::Json& json) { return run(json).runs.front(); }
double time_of(const input::Json& json) { return result_of(json).time_s; }

hardware::Chip h100() {
  return config::read_config(on_nodes(2, 8, "1 MiB", {{"algorithm", "node-ring"}})).chip;
}

/// Largest share by which engines differ in the order of messages that streams send at once.
constexpr double kOrder = 0.02;

TEST_CASE("rings and trees across nodes take the same time in both engines") {
  for (const std::string algorithm : {"node-ring", "tree"})
    for (const auto& [nodes, gpus] : {std::pair{2U, 2U}, std::pair{3U, 4U}, std::pair{2U, 8U}})
      for (const std::string bytes : {"64 KiB", "16 MiB"}) {
        CAPTURE(algorithm, nodes, gpus, bytes);
        input::Json json =
            on_nodes(nodes, gpus, bytes, {{"algorithm", algorithm}, {"protocol", "simple"}});
        json["engine"] = "simgrid";
        const double simgrid_s = time_of(json);
        json["engine"] = "direct";
        CHECK(time_of(json) == Approx(simgrid_s).epsilon(kOrder));
      }
}

TEST_CASE("engines agree exactly where no two streams send to one chip") {
  for (const std::uint32_t nodes : {2U, 3U, 5U}) {
    input::Json json =
        on_nodes(nodes, 2, "4 MiB", {{"algorithm", "node-ring"}, {"protocol", "simple"}});
    json["engine"] = "simgrid";
    const double simgrid_s = time_of(json);
    json["engine"] = "direct";
    CHECK(time_of(json) == Approx(simgrid_s).epsilon(1e-6));
  }
}

TEST_CASE("all ranks get the same sums") {
  for (const std::string collective : {"all-reduce", "reduce-scatter", "all-gather"})
    for (const std::string algorithm : {"node-ring", "tree"}) {
      if (algorithm == "tree" && collective != "all-reduce") continue;
      for (const auto& [nodes, gpus] : {std::pair{2U, 3U}, std::pair{3U, 4U}, std::pair{5U, 2U}}) {
        CAPTURE(collective, algorithm, nodes, gpus);
        input::Json json = on_nodes(nodes, gpus, "64 KiB", {{"algorithm", algorithm}});
        json["collective"] = collective;
        json["numerics"] = "on";
        const run::RunResult result = result_of(json);
        CHECK(result.numerics->ranks_identical);
        CHECK(result.numerics->sampled_fraction == 1.0);
        CHECK(result.numerics->against_exact.nmse < 1e-6);
        if (collective == "all-gather") CHECK(result.numerics->against_exact.mse == 0.0);
      }
    }
}

TEST_CASE("a ring crosses the network once per node and round, and every other hop is short") {
  const hardware::Chip chip = h100();
  constexpr std::uint32_t kNodes = 4;
  constexpr std::uint32_t kGpus = 8;
  constexpr double kHops = 2.0 * (kNodes * kGpus - 1);
  for (const auto& [protocol, startup, hop, network] :
       {std::tuple{"ll", chip.ll_startup, chip.ll_hop_latency, chip.ll_network_latency},
        std::tuple{"simple", chip.simple_startup, chip.simple_hop_latency,
                   chip.simple_network_latency}}) {
    CAPTURE(protocol);
    const double crossings = std::ceil(kHops / kGpus);
    const double latencies_s =
        startup.value + crossings * network.value + (kHops - crossings) * hop.value;
    const double time_s = time_of(
        on_nodes(kNodes, kGpus, "32 KiB", {{"algorithm", "node-ring"}, {"protocol", protocol}}));
    CHECK(time_s > latencies_s - network.value);
    CHECK(time_s < 1.1 * latencies_s);
  }
}

TEST_CASE("a small tensor takes the latencies of a tree: chains and levels, up and down") {
  const hardware::Chip chip = h100();
  const double levels = 2.0;  // 4 nodes: from a leaf to its parent, and to the root
  const double latencies_s =
      chip.ll_startup.value +
      2.0 * (7.0 * chip.ll_tree_hop_latency.value + levels * chip.ll_tree_network_latency.value);
  const double time_s =
      time_of(on_nodes(4, 8, "1 KiB", {{"algorithm", "tree"}, {"protocol", "ll"}}));
  CHECK(time_s > 0.99 * latencies_s);
  CHECK(time_s < 1.25 * latencies_s);
}

/// Bytes over the ports of one node, out of it.
double out_of_node(const run::RunResult& result) {
  double bytes = 0.0;
  for (const run::LinkUse& link : result.links)
    if (link.name.starts_with("0:") && link.name.ends_with("->network"))
      bytes += static_cast<double>(link.bytes);
  return bytes;
}

TEST_CASE("between two nodes trees carry half of what rings do, and all ports alike") {
  const auto result = [](const std::string& algorithm) {
    input::Json json = on_nodes(2, 8, "64 MiB", {{"algorithm", algorithm}});
    return result_of(json);
  };
  CHECK(out_of_node(result("node-ring")) == Approx(2.0 * 64 * kMebi * 15 / 16).epsilon(1e-3));
  CHECK(out_of_node(result("tree")) == Approx(64 * kMebi).epsilon(1e-3));
}

TEST_CASE("large tensors reach the rate of ports or switch, whichever is slower") {
  const hardware::Chip chip = h100();
  const double bytes = 1024 * kMebi;
  const double part = 2.0 * bytes * 31 / 32;  // of which a chip sends an eighth to other nodes
  const double port_s = part / 8 / 48e9;
  const double switch_s =
      part * 7 / 8 / (chip.links.value * chip.link_bandwidth.value * chip.simple_efficiency.value);
  const double ring_s =
      time_of(on_nodes(4, 8, "1 GiB", {{"algorithm", "node-ring"}, {"protocol", "simple"}}));
  CHECK(ring_s > std::max(port_s, switch_s));
  CHECK(ring_s < port_s + switch_s);
}

TEST_CASE("auto takes trees for small tensors and rings for large ones") {
  const auto chosen = [](const std::string& bytes) {
    input::Json json = on_nodes(4, 8, bytes, {{"algorithm", "auto"}, {"protocol", "auto"}});
    json["engine"] = "direct";
    return result_of(json);
  };
  const run::RunResult small = chosen("16 KiB");
  CHECK(small.algorithm->name == "tree");
  CHECK(small.protocol == hardware::Protocol::ll);
  const run::RunResult large = chosen("1 GiB");
  CHECK(large.protocol == hardware::Protocol::simple);
}

void refuse(const input::Json& json, const std::string& place, const std::string& remedy) {
  CAPTURE(json.dump());
  check_refused([&] { plan_of(json); }, place, remedy);
}

TEST_CASE("rings and trees across nodes need nodes with switches, and trees an AllReduce") {
  input::Json one = on_nodes(2, 8, "1 MiB", {{"algorithm", "node-ring"}});
  one["topology"].erase("network");
  refuse(one, "/collectives/0/algorithm", "is for slices that a network joins");
  input::Json linked = on_nodes(2, 4, "1 MiB", {{"algorithm", "tree"}});
  linked["topology"].erase("switch");
  linked["topology"]["fully-connected"] = 4;
  refuse(linked, "/collectives/0/algorithm", "is for nodes of chips on a switch");
  input::Json scatter = on_nodes(2, 8, "1 MiB", {{"algorithm", "tree"}});
  scatter["collective"] = "reduce-scatter";
  refuse(scatter, "/collectives/0/algorithm", "implements AllReduce only");
  refuse(on_nodes(2, 8, "1 MiB", {{"algorithm", "nvls"}}), "/collectives/0/algorithm",
         "needs all chips on one");
  input::Json amd = on_nodes(2, 8, "1 MiB", {{"algorithm", "node-ring"}, {"protocol", "ll"}});
  amd["hardware"] = "mi300x";
  refuse(amd, "/collectives/0/protocol", "across a network: its hardware file lacks");
}

}  // namespace
}  // namespace equarx::testing::nodes_test
