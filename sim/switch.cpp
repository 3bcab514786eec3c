#include "sim/switch.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "sim/symmetry.hpp"

namespace equarx::sim {

using collectives::Channel;
using collectives::Ports;

void add_ports(const SwitchSpec& spec, std::uint32_t chips, Machine& machine) {
  for (std::uint32_t chip = 0; chip < chips; ++chip) {
    machine.links.push_back({fmt::format("{}->switch", chip), spec.rate, spec.latency});
    machine.links.push_back({fmt::format("switch->{}", chip), spec.rate, 0.0});
  }
}

SwitchRoutes::SwitchRoutes(const SwitchSpec& spec, std::uint32_t chips,
                           std::span<const Channel> channels, Machine& machine)
    : operations_(static_cast<LinkIndex>(machine.links.size())) {
  if (std::ranges::all_of(channels,
                          [](const Channel& channel) { return channel.ports == Ports::both; }))
    return;
  for (std::uint32_t chip = 0; chip < chips; ++chip) {
    machine.links.push_back({fmt::format("terms of {}", chip), spec.operation_rate, spec.latency});
    machine.links.push_back({fmt::format("sums of {}", chip), spec.operation_rate, spec.latency});
  }
}

Route SwitchRoutes::route(std::uint32_t from, std::uint32_t to, Ports ports) const {
  switch (ports) {
    case Ports::both: break;
    case Ports::senders: return {2 * from, operations_ + 2 * from};
    case Ports::receivers: return {2 * to + 1, operations_ + 2 * to + 1};
  }
  return {2 * from, 2 * to + 1};
}

Machine representative_on_switch(const collectives::Program& program, const SwitchSpec& spec,
                                 std::uint32_t dma_queue) {
  std::vector<std::uint64_t> peers;
  for (const Channel& channel : program.channels) peers.push_back(channel.offset);
  return representative_on_switch(peers, program.channels, spec, dma_queue);
}

Machine representative_on_switch(std::span<const std::uint64_t> peers,
                                 std::span<const Channel> channels, const SwitchSpec& spec,
                                 std::uint32_t dma_queue) {
  Machine machine = representative(peers, {}, dma_queue);
  machine.links.clear();
  const std::uint32_t chips = machine.ranks();
  add_ports(spec, chips, machine);
  const SwitchRoutes routes(spec, chips, channels, machine);
  for (std::uint32_t chip = 0; chip < chips; ++chip)
    for (std::size_t channel = 0; channel < peers.size(); ++channel) {
      OutPort& port = machine.out_ports[chip][channel];
      const Ports ports = channels.empty() ? Ports::both : channels[channel].ports;
      port.route = routes.route(chip, port.peer, ports);
    }
  return machine;
}

}  // namespace equarx::sim
