#include "topologies/route.hpp"

#include <algorithm>
#include <deque>
#include <stdexcept>

#include <fmt/format.h>

namespace equarx::topology {
namespace {

/// By chip, the link over which a breadth-first search from the root first reached it.
using ArrivalLinks = std::vector<std::optional<LinkId>>;

/// Breadth-first search; visits links in the order of out_links().
ArrivalLinks search_from(const Topology& topology, ChipId root) {
  ArrivalLinks arrivals(topology.node_count());
  std::deque<ChipId> frontier{root};
  while (!frontier.empty()) {
    const ChipId chip = frontier.front();
    frontier.pop_front();
    for (const LinkId link : topology.out_links(chip)) {
      const ChipId next = topology.link(link).to;
      if (next == root || arrivals[next]) continue;
      arrivals[next] = link;
      frontier.push_back(next);
    }
  }
  return arrivals;
}

struct Walk {
  std::uint32_t hops;
  bool positive;
};

/// Returns the shorter direction between two coordinates of an axis; `tie`: the positive one, if
/// both are equal.
Walk shorter_walk(const GridShape& shape, std::size_t axis, std::uint32_t from, std::uint32_t to,
                  bool tie) {
  if (!has_wraparound_links(shape, axis)) {
    return from <= to ? Walk{to - from, true} : Walk{from - to, false};
  }
  const std::uint32_t length = shape.lengths[axis];
  const std::uint32_t ahead = (to + length - from) % length;
  const std::uint32_t back = length - ahead;
  const bool positive = ahead == back ? tie : ahead < back;
  return positive ? Walk{ahead, true} : Walk{back, false};
}

/// Direction of a tie along an axis. Alternates with the coordinate there, so that neighbours take
/// opposite ways, and with the coordinates of the destination on the other axes.
bool is_tie_positive(const Coordinates& from, const Coordinates& to, std::size_t axis) {
  std::uint32_t sum = from[axis];
  for (std::size_t other = 0; other < to.size(); ++other)
    if (other != axis) sum += to[other];
  return sum % 2 == 0;
}

[[noreturn]] void refuse_topology() {
  throw std::logic_error("the topology was not made from the shape of the route");
}

}  // namespace

std::vector<LinkId> dimension_ordered_route(const GridShape& shape, const Topology& grid,
                                            ChipId from, ChipId to) {
  if (grid.chip_count() != chip_count(shape)) refuse_topology();
  Coordinates current = coordinates_of(shape, from);
  const Coordinates goal = coordinates_of(shape, to);
  ChipId chip = from;
  std::vector<LinkId> route;
  for (const std::size_t axis : canonical_axes(shape)) {
    const std::uint32_t length = shape.lengths[axis];
    const Walk walk =
        shorter_walk(shape, axis, current[axis], goal[axis], is_tie_positive(current, goal, axis));
    for (std::uint32_t hop = 0; hop < walk.hops; ++hop) {
      current[axis] = (current[axis] + (walk.positive ? 1 : length - 1)) % length;
      const ChipId next = chip_at(shape, current);
      const std::optional<LinkId> link = grid.find_link(chip, next);
      if (!link) refuse_topology();
      route.push_back(*link);
      chip = next;
    }
  }
  return route;
}

std::vector<LinkId> breadth_first_route(const Topology& topology, ChipId from, ChipId to) {
  topology.require_chip(from);
  topology.require_chip(to);
  if (const std::optional<LinkId> link = topology.find_link(from, to)) return {*link};
  const ArrivalLinks arrivals = search_from(topology, from);
  std::vector<LinkId> route;
  for (ChipId chip = to; chip != from; chip = topology.link(route.back()).from) {
    if (!arrivals[chip]) {
      throw std::invalid_argument(fmt::format(
          "no route leads from chip {} to chip {}; join the parts of the topology by a link",
          topology.label(from), topology.label(to)));
    }
    route.push_back(*arrivals[chip]);
  }
  std::ranges::reverse(route);
  return route;
}

std::optional<ChipId> find_unreachable_chip(const Topology& topology) {
  const ArrivalLinks arrivals = search_from(topology, 0);
  for (ChipId chip = 1; chip < topology.chip_count(); ++chip) {
    if (!arrivals[chip]) return chip;
  }
  return std::nullopt;
}

}  // namespace equarx::topology
