// Neighbours of ranks on a graph, and the weights of their means.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/collectives/rank_grid.hpp"

namespace equarx::collectives {

/// An undirected graph of ranks. Weights are Metropolis weights: 1 / (1 + the larger degree) between
/// neighbours, the rest for the own tensor. They are symmetric and add up to 1 for every rank, so
/// that repeated means approach the mean over all ranks (Xiao, Boyd and Lall, IPSN 2005).
class RankGraph {
 public:
  RankGraph() = default;
  /// @param edges each once. @throws std::invalid_argument for an edge of an unknown rank, of a rank
  /// to itself, or given twice, and for a rank without neighbours
  RankGraph(std::uint32_t ranks, const std::vector<std::pair<Rank, Rank>>& edges);

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(neighbors_.size()); }
  /// In rising order.
  const std::vector<Rank>& neighbors(Rank rank) const { return neighbors_.at(rank); }
  bool joins(Rank one, Rank other) const;
  /// Messages of one exchange: two for every edge.
  std::uint64_t messages() const;
  /// Weight of a neighbour's tensor, rounded to FP32.
  float weight(Rank one, Rank other) const;
  /// 1 minus the weights of the neighbours, subtracted in their order in FP32.
  float own_weight(Rank rank) const;

 private:
  std::vector<std::vector<Rank>> neighbors_;
};

}  // namespace equarx::collectives
