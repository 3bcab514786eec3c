#include "models/hardware/protocol.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace equarx::hardware {
namespace {

/// Parameters of a protocol.
struct ProtocolParameters {
  std::string_view name;
  Parameter Chip::*startup;
  Parameter Chip::*hop_latency;
  Parameter Chip::*efficiency;
  Parameter Chip::*network_latency;
  Parameter Chip::*tree_hop_latency;
  Parameter Chip::*tree_network_latency;
};

constexpr std::array<ProtocolParameters, kProtocols> kTable = {{
    {"none", &Chip::collective_startup, &Chip::hop_latency, &Chip::link_efficiency, nullptr,
     nullptr, nullptr},
    {"ll", &Chip::ll_startup, &Chip::ll_hop_latency, &Chip::ll_efficiency,
     &Chip::ll_network_latency, &Chip::ll_tree_hop_latency, &Chip::ll_tree_network_latency},
    {"ll128", &Chip::ll128_startup, &Chip::ll128_hop_latency, &Chip::ll128_efficiency,
     &Chip::ll128_network_latency, &Chip::ll128_tree_hop_latency,
     &Chip::ll128_tree_network_latency},
    {"simple", &Chip::simple_startup, &Chip::simple_hop_latency, &Chip::simple_efficiency,
     &Chip::simple_network_latency, &Chip::simple_tree_hop_latency,
     &Chip::simple_tree_network_latency},
}};

const ProtocolParameters& parameters_of(Protocol protocol) {
  return kTable[static_cast<std::size_t>(protocol)];
}

bool states(const Chip& chip, Parameter Chip::*parameter) { return (chip.*parameter).value > 0.0; }

}  // namespace

std::string_view name(Protocol protocol) { return parameters_of(protocol).name; }

bool has_protocol(const Chip& chip, Protocol protocol, Pattern pattern, bool across_network) {
  if (protocol == Protocol::none) return true;
  const ProtocolParameters& own = parameters_of(protocol);
  switch (pattern) {
    case Pattern::in_switch:
      return protocol == Protocol::simple && states(chip, &Chip::switch_startup);
    case Pattern::tree:
      return states(chip, own.efficiency) && states(chip, own.tree_hop_latency) &&
             states(chip, &Chip::tree_efficiency) &&
             (!across_network || states(chip, own.tree_network_latency));
    case Pattern::ring: break;
  }
  return states(chip, own.efficiency) && (!across_network || states(chip, own.network_latency));
}

Chip under_protocol(Chip chip, Protocol protocol, Pattern pattern) {
  if (protocol == Protocol::none) return chip;
  const ProtocolParameters& own = parameters_of(protocol);
  chip.collective_startup = chip.*own.startup;
  chip.hop_latency = chip.*own.hop_latency;
  chip.link_efficiency = chip.*own.efficiency;
  if (pattern == Pattern::in_switch) {
    chip.collective_startup = chip.switch_startup;
    chip.hop_latency = Parameter{.source = {}};
  } else if (pattern == Pattern::tree) {
    chip.hop_latency = chip.*own.tree_hop_latency;
    chip.link_efficiency.value *= chip.tree_efficiency.value;
  }
  return chip;
}

Chip with_thread_blocks(Chip chip, std::uint32_t thread_blocks) {
  const double most = thread_blocks * chip.thread_block_rate.value;
  const double peak = chip.links.value * chip.link_bandwidth.value;
  chip.link_efficiency.value = std::min(chip.link_efficiency.value, most / peak);
  return chip;
}

NetworkPort under_protocol(NetworkPort port, std::uint32_t ports, const Chip& chip,
                           Protocol protocol, Pattern pattern) {
  if (protocol == Protocol::none) return port;
  const ProtocolParameters& own = parameters_of(protocol);
  const bool tree = pattern == Pattern::tree;
  port.latency_s += (chip.*(tree ? own.tree_network_latency : own.network_latency)).value;
  port.rate *= (chip.*own.efficiency).value / chip.simple_efficiency.value;
  if (protocol == Protocol::ll && states(chip, &Chip::ll_network_bandwidth))
    port.rate = std::min(port.rate, chip.ll_network_bandwidth.value / ports);
  if (tree) port.rate *= chip.tree_efficiency.value;
  return port;
}

std::uint64_t tree_chunk_bytes(Protocol protocol, std::uint32_t nodes, std::uint32_t chips_of_node,
                               std::uint64_t bytes) {
  constexpr std::uint64_t kKibi = 1024;
  constexpr std::uint64_t kSimple = 512 * kKibi;  // 4 MiB in eight steps
  if (protocol == Protocol::ll) return 32 * kKibi;
  if (protocol != Protocol::ll128) return kSimple;
  const std::uint64_t channels = 2 * std::uint64_t{chips_of_node};
  const double steps = std::bit_width(nodes) + 0.1 * chips_of_node;
  std::uint64_t chunk = 562 * kKibi + 512;  // 640 threads of 120 words of 8 B, 120 B of every 128
  const auto halve = [&](double chunks_of_step, std::uint64_t least) {
    while (chunk > least &&
           static_cast<double>(bytes / (channels * chunk)) < steps * chunks_of_step / chips_of_node)
      chunk /= 2;
  };
  halve(64.0, 128 * kKibi);
  halve(16.0, 32 * kKibi);
  return chunk;
}

}  // namespace equarx::hardware
