#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "topologies/grid.hpp"
#include "topologies/topology.hpp"

namespace equarx::topology {

/// Cables of the chips that have the fewest and the most.
struct DegreeRange {
  std::uint32_t least = 0;
  std::uint32_t most = 0;
};

/// The fewest and the most cables that a chip has.
DegreeRange degree_range(const Topology& topology);

/// Hops of shortest routes between two different chips; both are 0 for a single chip.
struct Distances {
  std::uint32_t diameter = 0;  ///< the longest
  double average = 0.0;        ///< over all pairs
};

/// Counted by a search from every chip: chips x links steps.
/// Throws std::invalid_argument if the topology is not connected.
Distances distances(const Topology& topology);

/// The same of make_grid(shape), by formula. Distances add up over the axes. Along an axis of
/// length k the longest is k - 1, or floor(k / 2) with wraparound; summed over all ordered pairs of
/// positions they are k (k^2 - 1) / 3, or k floor(k^2 / 4).
Distances distances(const GridShape& shape);

/// A way to cut the chips into halves (which differ by one chip if their number is odd).
struct Bisection {
  std::uint32_t cables = 0;  ///< that are cut
  double weight = 0.0;       ///< of them all
  bool exact = true;         ///< false: an upper bound, there may be a lighter cut
};

/// The chips up to which bisection() tries every cut.
inline constexpr std::uint32_t kMostEnumeratedChips = 20;

/// The cut of the smallest weight, where cable k (links 2k and 2k + 1) weighs `cable_weights[k]`:
/// exact for up to kMostEnumeratedChips chips, and where all chips are joined to all others by
/// cables of one weight. Otherwise an upper bound by the heuristic of Kernighan and Lin (An
/// Efficient Heuristic Procedure for Partitioning Graphs, 1970), which is always the same.
///
/// Throws std::invalid_argument unless there is one weight for each cable and none is negative.
Bisection bisection(const Topology& topology, std::span<const double> cable_weights);

/// The same of make_grid(shape), whose cables all weigh `cable_weight`, by formula. With the axes
/// in some order, of lengths k_1 ... k_d: cut axis 1 in the middle; if k_1 is odd, one layer is
/// left, which is cut in the same way along axis 2, and so on up to the first even axis a:
///
///     cables = sum over i = 1 ... a of w_i x k_(i+1) x ... x k_d
///
/// where w is 1, or 2 on an axis with wraparound, which has to be cut in two places. The order with
/// the fewest cables counts; axes of length 1 do not. For meshes, and for tori, it is a theorem (Efe
/// and Feng, A Proof for Bisection Width of Grids, 2007; Arjona Aroca and Fernandez Anta, Bisection
/// (Band)Width of Product Networks with Application to Data Centers, 2014). For grids that are
/// wrapped on some axes only, the tests compare it with all cuts of every small one.
Bisection bisection(const GridShape& shape, double cable_weight);

}  // namespace equarx::topology
