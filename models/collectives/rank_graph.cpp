#include "models/collectives/rank_graph.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace equarx::collectives {

RankGraph::RankGraph(std::uint32_t ranks, const std::vector<std::pair<Rank, Rank>>& edges)
    : neighbors_(ranks) {
  for (const auto& [one, other] : edges) {
    if (one >= ranks || other >= ranks || one == other)
      throw std::invalid_argument(fmt::format("no edge can join ranks {} and {}", one, other));
    neighbors_[one].push_back(other);
    neighbors_[other].push_back(one);
  }
  for (Rank rank = 0; rank < ranks; ++rank) {
    std::vector<Rank>& known = neighbors_[rank];
    std::ranges::sort(known);
    if (std::ranges::adjacent_find(known) != known.end())
      throw std::invalid_argument(fmt::format("two edges join rank {} to the same rank", rank));
    if (known.empty()) throw std::invalid_argument(fmt::format("rank {} has no neighbour", rank));
  }
}

bool RankGraph::joins(Rank one, Rank other) const {
  return std::ranges::binary_search(neighbors(one), other);
}

std::uint64_t RankGraph::messages() const {
  std::uint64_t total = 0;
  for (const std::vector<Rank>& known : neighbors_) total += known.size();
  return total;
}

float RankGraph::weight(Rank one, Rank other) const {
  const std::size_t degree = std::max(neighbors(one).size(), neighbors(other).size());
  return 1.0F / static_cast<float>(1 + degree);
}

float RankGraph::own_weight(Rank rank) const {
  float left = 1.0F;
  for (const Rank other : neighbors(rank)) left -= weight(rank, other);
  return left;
}

}  // namespace equarx::collectives
