#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "topologies/grid.hpp"
#include "topologies/topology.hpp"

namespace equarx::topology {

/// Smallest and largest number of links of a chip.
struct DegreeRange {
  std::uint32_t least = 0;
  std::uint32_t most = 0;
};

/// Computes the degree range of the topology.
DegreeRange degree_range(const Topology& topology);

/// Shortest-path lengths between distinct chips, in hops; both are 0 for a single chip.
struct Distances {
  std::uint32_t diameter = 0;  ///< maximum over all pairs
  double average = 0.0;        ///< mean over all pairs
};

/// Runs a breadth-first search from every chip: O(chips x links). Throws std::invalid_argument if
/// the topology is not connected.
Distances distances(const Topology& topology);

/// Closed form for make_grid(shape). Distances add up over the axes. Along an axis of length k the
/// maximum is k - 1, or floor(k / 2) with wraparound; the sum over all ordered pairs of positions
/// is k (k^2 - 1) / 3, or k floor(k^2 / 4).
Distances distances(const GridShape& shape);

/// A bisection of the chips; the halves differ by one chip if their number is odd.
struct Bisection {
  std::uint32_t cables = 0;  ///< cut links
  double weight = 0.0;       ///< total weight of the cut links
  bool exact = true;         ///< false: `weight` is an upper bound
};

/// Largest number of chips for which bisection() enumerates every cut.
inline constexpr std::uint32_t kMaxEnumeratedChips = 20;

/// Minimum-weight bisection, where cable k (link directions 2k and 2k + 1) weighs
/// `cable_weights[k]`. Exact for up to kMaxEnumeratedChips chips and for fully connected
/// topologies with equal weights, and for chips on one switch. Otherwise an upper bound from the
/// Kernighan-Lin heuristic (An Efficient Heuristic Procedure for Partitioning Graphs, 1970);
/// deterministic.
///
/// Throws std::invalid_argument unless there is one non-negative weight per cable.
Bisection bisection(const Topology& topology, std::span<const double> cable_weights);

/// Closed form for make_grid(shape) with links of equal weight `cable_weight`. For an order of the
/// axes with lengths k_1 ... k_d: cut axis 1 in the middle; if k_1 is odd, cut the remaining middle
/// layer along axis 2, and so on up to the first even axis a:
///
///     cables = sum over i = 1 ... a of w_i x k_(i+1) x ... x k_d
///
/// where w is 1, or 2 on an axis with wraparound, which must be cut twice. The result is the
/// minimum over all orders; axes of length 1 are ignored. Proved for meshes and tori (Efe and Feng,
/// A Proof for Bisection Width of Grids, 2007; Arjona Aroca and Fernandez Anta, Bisection
/// (Band)Width of Product Networks with Application to Data Centers, 2014). For grids that wrap
/// around on some axes only, the tests compare it with exhaustive search on every small grid.
Bisection bisection(const GridShape& shape, double cable_weight);

}  // namespace equarx::topology
