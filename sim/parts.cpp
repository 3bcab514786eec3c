#include "sim/parts.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace equarx::sim {
namespace {

using collectives::Rank;

constexpr LinkIndex kUnused = std::numeric_limits<LinkIndex>::max();

/// Disjoint sets of ranks (union-find with path halving).
class Sets {
 public:
  explicit Sets(std::uint32_t ranks) : parent_(ranks) {
    std::iota(parent_.begin(), parent_.end(), Rank{0});
  }

  Rank first(Rank rank) {
    while (parent_[rank] != rank) rank = parent_[rank] = parent_[parent_[rank]];
    return rank;
  }
  void join(Rank one, Rank other) {
    const Rank a = first(one);
    const Rank b = first(other);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<Rank> parent_;
};

bool is_alike(const LinkSpec& one, const LinkSpec& other) {
  return one.rate == other.rate && one.latency == other.latency;
}

bool is_alike(const OutPort& one, const OutPort& other) {
  return one.peer == other.peer && one.route == other.route;
}

/// Numbers links by first use.
class Renumbering {
 public:
  Renumbering(const Machine& machine, Machine& part)
      : machine_(machine), part_(part), number_(machine.links.size(), kUnused) {}

  LinkIndex link(LinkIndex old) {
    if (number_[old] == kUnused) {
      number_[old] = static_cast<LinkIndex>(part_.links.size());
      part_.links.push_back(machine_.links[old]);
    }
    return number_[old];
  }
  bool has(LinkIndex old) const { return number_[old] != kUnused; }

 private:
  const Machine& machine_;
  Machine& part_;
  std::vector<LinkIndex> number_;
};

}  // namespace

std::vector<Ranks> independent_parts(const Machine& machine) {
  Sets sets(machine.ranks());
  std::vector<Rank> user(machine.links.size(), machine.ranks());
  for (Rank rank = 0; rank < machine.ranks(); ++rank)
    for (const OutPort& port : machine.out_ports[rank]) {
      sets.join(rank, port.peer);
      for (const LinkIndex link : port.route) {
        if (user[link] < machine.ranks()) sets.join(rank, user[link]);
        user[link] = rank;
      }
    }
  std::map<Rank, Ranks> parts;
  for (Rank rank = 0; rank < machine.ranks(); ++rank) parts[sets.first(rank)].push_back(rank);
  std::vector<Ranks> list;
  for (auto& [first, ranks] : parts) list.push_back(std::move(ranks));
  return list;
}

Machine part_of(const Machine& machine, const Ranks& ranks) {
  Machine part;
  part.dma_queue = machine.dma_queue;
  std::vector<Rank> number(machine.ranks());
  for (std::size_t i = 0; i < ranks.size(); ++i) number[ranks[i]] = static_cast<Rank>(i);
  Renumbering renumbered(machine, part);
  const LinkIndex cables = machine.cables();
  for (const Rank rank : ranks)  // HBMs follow the links between chips
    for (const OutPort& port : machine.out_ports[rank])
      for (const LinkIndex link : port.route)
        if (link < cables) renumbered.link(link);
  for (const Rank rank : ranks)
    if (!machine.hbm.empty()) part.hbm.push_back(renumbered.link(machine.hbm[rank]));
  for (const Rank rank : ranks) {
    part.chip_names.push_back(machine.chip_names[rank]);
    if (!machine.slowdown.empty()) part.slowdown.push_back(machine.slowdown[rank]);
    auto& ports = part.out_ports.emplace_back();
    for (const OutPort& port : machine.out_ports[rank]) {
      OutPort& made = ports.emplace_back(OutPort{number[port.peer], {}});
      for (const LinkIndex link : port.route) made.route.push_back(renumbered.link(link));
    }
  }
  for (const LinkFailure& failure : machine.failures)
    if (renumbered.has(failure.link))
      part.failures.push_back({renumbered.link(failure.link), failure.time_s});
  return part;
}

bool are_alike(const Machine& one, const Machine& other) {
  const auto same_ports = [](const auto& ports, const auto& others) {
    return std::ranges::equal(ports, others,
                              [](const OutPort& a, const OutPort& b) { return is_alike(a, b); });
  };
  return one.dma_queue == other.dma_queue && one.slowdown == other.slowdown &&
         one.hbm == other.hbm && one.failures.empty() && other.failures.empty() &&
         std::ranges::equal(one.links, other.links,
                            [](const LinkSpec& a, const LinkSpec& b) { return is_alike(a, b); }) &&
         std::ranges::equal(one.out_ports, other.out_ports, same_ports);
}

}  // namespace equarx::sim
