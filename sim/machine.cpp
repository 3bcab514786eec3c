#include "sim/machine.hpp"

#include <algorithm>

#include "models/collectives/traffic.hpp"

namespace equarx::sim {

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
