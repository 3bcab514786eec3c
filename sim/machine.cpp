#include "sim/machine.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "models/collectives/traffic.hpp"

namespace equarx::sim {

using collectives::kDirections;

std::vector<std::uint64_t> link_bytes(const collectives::Program& program, const Machine& machine) {
  const auto sent = collectives::sent_bytes(program);
  std::vector<std::uint64_t> bytes(machine.links.size(), 0);
  for (const auto& routes : machine.routes)
    for (std::size_t direction = 0; direction < kDirections; ++direction)
      for (const std::uint32_t link : routes[direction]) bytes[link] += sent[direction];
  return bytes;
}

double lower_bound_s(const collectives::Program& program, const Machine& machine) {
  const auto bytes = link_bytes(program, machine);
  double bound = 0.0;
  for (std::size_t link = 0; link < bytes.size(); ++link)
    bound = std::max(bound, static_cast<double>(bytes[link]) / machine.links[link].rate);
  return bound;
}

Machine representative(const Machine& machine) {
  // Three, because with two the neighbours in both directions would be one chip, over one link.
  constexpr std::uint32_t kRepresentatives = 3;
  if (machine.ranks() <= kRepresentatives)
    throw std::invalid_argument(fmt::format(
        "symmetric simulation needs at least {} chips; simulate in full", kRepresentatives + 1));
  const LinkSpec& model = machine.links.at(machine.routes.front().front().front());
  for (const auto& routes : machine.routes)
    for (const Route& route : routes) {
      if (route.size() != 1)
        throw std::invalid_argument(
            "symmetric simulation needs neighbours that are linked directly");
      const LinkSpec& link = machine.links[route.front()];
      if (link.rate != model.rate || link.latency != model.latency)
        throw std::invalid_argument("symmetric simulation needs links that are all alike");
    }
  Machine ring;
  ring.dma_queue = machine.dma_queue;
  for (std::uint32_t rank = 0; rank < kRepresentatives; ++rank) {
    ring.chip_names.push_back(fmt::format("representative {}", rank));
    auto& routes = ring.routes.emplace_back();
    for (Route& route : routes) {
      route.push_back(static_cast<std::uint32_t>(ring.links.size()));
      ring.links.push_back({fmt::format("link {}", ring.links.size()), model.rate, model.latency});
    }
  }
  return ring;
}

}  // namespace equarx::sim
