#include "topologies/metrics.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "topologies/bisection.hpp"
#include "topologies/cable_graph.hpp"

namespace equarx::topology {
namespace {

/// Sum and maximum of the hop counts from one chip to all others; switches are no goals.
struct Reach {
  std::uint64_t sum = 0;
  std::uint32_t longest = 0;
};

Reach reach_of(const CableGraph& graph, ChipId start, std::uint32_t chips) {
  constexpr auto kFar = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> hops(graph.chip_count(), kFar);
  std::vector<ChipId> queue{start};
  queue.reserve(graph.chip_count());
  hops[start] = 0;
  Reach reach;
  for (std::size_t i = 0; i < queue.size() && queue.size() < graph.chip_count(); ++i) {
    for (const CableId cable : graph.cables_of[queue[i]]) {
      const ChipId next = graph.other_end(cable, queue[i]);
      if (hops[next] != kFar) continue;
      hops[next] = hops[queue[i]] + 1;
      queue.push_back(next);
    }
  }
  if (queue.size() < graph.chip_count()) {
    throw std::invalid_argument("the topology is not connected; join its parts by a link");
  }
  for (ChipId chip = 0; chip < chips; ++chip) {
    reach.sum += hops[chip];
    reach.longest = std::max(reach.longest, hops[chip]);
  }
  return reach;
}

std::uint64_t sum_along_axis(const GridShape& shape, std::size_t axis) {
  const std::uint64_t k = shape.lengths[axis];
  return has_wraparound_links(shape, axis) ? k * (k * k / 4) : k * (k * k - 1) / 3;
}

double average_over_pairs(double sum, std::uint32_t chips) {
  if (chips == 1) return 0.0;
  return sum / (static_cast<double>(chips) * (chips - 1.0));
}

/// Number of links cut with the axes in this order.
std::uint64_t cables_cut(const GridShape& shape, const std::vector<std::size_t>& order) {
  std::uint64_t layer = chip_count(shape);
  std::uint64_t cables = 0;
  for (const std::size_t axis : order) {
    layer /= shape.lengths[axis];
    cables += (has_wraparound_links(shape, axis) ? 2 : 1) * layer;
    if (shape.lengths[axis] % 2 == 0) break;
  }
  return cables;
}

void require_weights(const Topology& topology, std::span<const double> weights) {
  const std::uint32_t cables = topology.link_count() / 2;
  if (weights.size() != cables) {
    throw std::invalid_argument(
        fmt::format("{} weights for {} links; give one weight per link", weights.size(), cables));
  }
  for (const double weight : weights) {
    if (!(weight >= 0.0)) {
      throw std::invalid_argument(
          fmt::format("a link has weight {}; weights must be 0 or more", weight));
    }
  }
}

/// The ports of the smaller half, those of the least weight, are cut: the switch is in the other.
Bisection bisection_at_switch(const Topology& topology, std::span<const double> weights) {
  std::vector<double> sorted(weights.begin(), weights.end());
  std::ranges::sort(sorted);
  const std::uint32_t cables = topology.chip_count() / 2;
  return {cables, std::accumulate(sorted.begin(), sorted.begin() + cables, 0.0), true};
}

bool all_cuts_equal(const Topology& topology, std::span<const double> weights) {
  const std::uint64_t chips = topology.chip_count();
  const bool fully_connected = topology.link_count() == chips * (chips - 1);
  const auto differs = [&](double weight) { return weight != weights.front(); };
  return fully_connected && std::ranges::none_of(weights, differs);
}

}  // namespace

DegreeRange degree_range(const Topology& topology) {
  DegreeRange range{std::numeric_limits<std::uint32_t>::max(), 0};
  for (ChipId chip = 0; chip < topology.chip_count(); ++chip) {
    const auto cables = static_cast<std::uint32_t>(topology.out_links(chip).size());
    range.least = std::min(range.least, cables);
    range.most = std::max(range.most, cables);
  }
  return range;
}

Distances distances(const Topology& topology) {
  const CableGraph graph = usable_cables(topology, {});
  Distances result;
  std::uint64_t sum = 0;
  const std::uint32_t chips = topology.chip_count();
  for (ChipId chip = 0; chip < chips; ++chip) {
    const Reach reach = reach_of(graph, chip, chips);
    sum += reach.sum;
    result.diameter = std::max(result.diameter, reach.longest);
  }
  result.average = average_over_pairs(static_cast<double>(sum), chips);
  return result;
}

Distances distances(const GridShape& shape) {
  const std::uint32_t chips = chip_count(shape);
  Distances result;
  double sum = 0.0;
  for (std::size_t axis = 0; axis < shape.lengths.size(); ++axis) {
    const std::uint32_t k = shape.lengths[axis];
    result.diameter += has_wraparound_links(shape, axis) ? k / 2 : k - 1;
    const double others = static_cast<double>(chips) / k;
    sum += static_cast<double>(sum_along_axis(shape, axis)) * others * others;
  }
  result.average = average_over_pairs(sum, chips);
  return result;
}

Bisection bisection(const Topology& topology, std::span<const double> cable_weights) {
  require_weights(topology, cable_weights);
  if (topology.node_count() > topology.chip_count())
    return bisection_at_switch(topology, cable_weights);
  const CableGraph graph = usable_cables(topology, {});
  const bool all_cuts = graph.chip_count() <= kMaxEnumeratedChips;
  const std::vector<bool> sides =
      all_cuts ? lightest_halves(graph, cable_weights) : light_halves(graph, cable_weights);
  Bisection result;
  for (CableId cable = 0; cable < graph.ends.size(); ++cable) {
    const auto [first, second] = graph.ends[cable];
    if (sides[first] == sides[second]) continue;
    ++result.cables;
    result.weight += cable_weights[cable];
  }
  result.exact = all_cuts || all_cuts_equal(topology, cable_weights);
  return result;
}

Bisection bisection(const GridShape& shape, double cable_weight) {
  chip_count(shape);
  std::vector<std::size_t> order;
  for (std::size_t axis = 0; axis < shape.lengths.size(); ++axis) {
    if (shape.lengths[axis] > 1) order.push_back(axis);
  }
  std::uint64_t fewest = cables_cut(shape, order);
  while (std::ranges::next_permutation(order).found) {
    fewest = std::min(fewest, cables_cut(shape, order));
  }
  const auto cables = static_cast<std::uint32_t>(fewest);
  return {cables, cables * cable_weight, true};
}

}  // namespace equarx::topology
