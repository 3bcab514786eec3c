#include "sim/machine.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "models/collectives/traffic.hpp"

namespace equarx::sim {

std::vector<std::uint32_t> users_of_links(const Machine& machine) {
  // Several channels of a rank may lead to one peer.
  std::vector<collectives::Rank> seen_by(machine.ranks(), machine.ranks());
  std::vector<std::uint32_t> users(machine.links.size());
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank)
    for (const Way& way : machine.ways[rank]) {
      if (std::exchange(seen_by[way.peer], rank) == rank) continue;
      for (const LinkIndex link : way.route) ++users[link];
    }
  return users;
}

bool shares_links(const Machine& machine) {
  return std::ranges::any_of(users_of_links(machine),
                             [](std::uint32_t users) { return users > 1; });
}

double latency_s(const Machine& machine, const Route& route) {
  double latency_s = 0.0;
  for (const LinkIndex link : route) latency_s += machine.links[link].latency;
  return latency_s;
}

double bottleneck_rate(const Machine& machine, const Route& route) {
  double rate = std::numeric_limits<double>::infinity();
  for (const LinkIndex link : route) rate = std::min(rate, machine.links[link].rate);
  return rate;
}

std::vector<std::uint64_t> link_bytes(const collectives::Program& program, const Machine& machine) {
  const bool uniform = is_uniform(program);
  auto sent = collectives::sent_bytes(program);
  std::vector<std::uint64_t> bytes(machine.links.size(), 0);
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank) {
    if (!uniform && rank > 0) sent = collectives::sent_bytes(program, rank);
    for (std::size_t channel = 0; channel < sent.size(); ++channel)
      for (const LinkIndex link : machine.ways[rank][channel].route) bytes[link] += sent[channel];
  }
  return bytes;
}

double lower_bound_s(const collectives::Program& program, const Machine& machine) {
  const auto bytes = link_bytes(program, machine);
  double bound = 0.0;
  for (std::size_t link = 0; link < bytes.size(); ++link)
    bound = std::max(bound, static_cast<double>(bytes[link]) / machine.links[link].rate);
  return bound;
}

}  // namespace equarx::sim
