#include "sim/machine.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "models/collectives/traffic.hpp"

namespace equarx::sim {
namespace {

/// Bytes that the core of a rank reads from and writes to its HBM.
std::uint64_t core_bytes(const collectives::Program& program, const Costs& costs,
                         collectives::Rank rank) {
  const std::vector<std::uint64_t>& hbm_bytes = costs.of(rank).hbm_bytes;
  std::uint64_t bytes = 0;
  for (collectives::InstructionId id = 0; id < hbm_bytes.size(); ++id)
    if (program.runs(program.instructions[id], rank)) bytes += hbm_bytes[id];
  return bytes;
}

}  // namespace

std::uint32_t Machine::lanes() const {
  std::uint32_t most = 0;
  for (const std::vector<OutPort>& ports : out_ports)
    for (const OutPort& port : ports) most = std::max(most, port.lane);
  return most + 1;
}

void add_hbm(double rate, Machine& machine) {
  for (const std::string& name : machine.chip_names) {
    machine.hbm.push_back(static_cast<LinkIndex>(machine.links.size()));
    machine.links.push_back({.name = fmt::format("HBM of {}", name), .rate = rate});
  }
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank)
    for (OutPort& port : machine.out_ports[rank])
      if (port.sends(rank))
        port.route.insert(port.route.end(), {machine.hbm[rank], machine.hbm[port.peer]});
}

std::vector<std::uint32_t> users_of_links(const Machine& machine) {
  // Several channels of a rank may lead to one peer.
  const std::size_t lanes = machine.lanes();
  std::vector<collectives::Rank> seen_by(machine.ranks() * lanes, machine.ranks());
  std::vector<std::uint32_t> users(machine.links.size());
  for (const LinkIndex link : machine.hbm) ++users[link];
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank)
    for (const OutPort& port : machine.out_ports[rank]) {
      if (std::exchange(seen_by[port.peer * lanes + port.lane], rank) == rank) continue;
      for (const LinkIndex link : port.route) users[link] += machine.links[link].users;
    }
  return users;
}

bool shares_links(const Machine& machine) {
  return !machine.hbm.empty() || std::ranges::any_of(users_of_links(machine),
                                                     [](std::uint32_t users) { return users > 1; });
}

double latency_s(const Machine& machine, const Route& route) {
  double latency_s = 0.0;
  for (const LinkIndex link : route) latency_s += machine.links[link].latency;
  return latency_s;
}

double bottleneck_rate(const Machine& machine, const Route& route) {
  double rate = std::numeric_limits<double>::infinity();
  for (const LinkIndex link : route)
    rate = std::min(rate, machine.links[link].rate * machine.links[link].users);
  return rate;
}

void set_channels(const std::vector<collectives::ChannelId>& channels, Machine& machine) {
  for (std::vector<OutPort>& ports : machine.out_ports) {
    std::vector<OutPort> made;
    made.reserve(channels.size());
    for (const collectives::ChannelId channel : channels) made.push_back(ports[channel]);
    ports = std::move(made);
  }
}

std::vector<std::uint64_t> link_bytes(const collectives::Program& program, const Machine& machine,
                                      const Costs& costs) {
  const bool uniform = is_uniform(program);
  auto sent = collectives::sent_bytes(program);
  std::vector<std::uint64_t> bytes(machine.links.size(), 0);
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank) {
    if (!uniform && rank > 0) sent = collectives::sent_bytes(program, rank);
    for (std::size_t channel = 0; channel < sent.size(); ++channel)
      for (const LinkIndex link : machine.out_ports[rank][channel].route)
        bytes[link] += sent[channel];
  }
  std::uint64_t core = core_bytes(program, costs, 0);
  for (collectives::Rank rank = 0; rank < machine.hbm.size(); ++rank) {
    if (!uniform && rank > 0) core = core_bytes(program, costs, rank);
    bytes[machine.hbm[rank]] += core;
  }
  return bytes;
}

double lower_bound_s(const collectives::Program& program, const Machine& machine,
                     const Costs& costs) {
  return lower_bound_s(link_bytes(program, machine, costs), machine);
}

double lower_bound_s(const std::vector<std::uint64_t>& link_bytes, const Machine& machine) {
  double bound = 0.0;
  for (std::size_t link = 0; link < link_bytes.size(); ++link)
    bound = std::max(bound, static_cast<double>(link_bytes[link]) / machine.links[link].rate);
  return bound;
}

}  // namespace equarx::sim
