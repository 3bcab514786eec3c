// Numbering of the ranks of a collective, and offsets between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace equarx::collectives {

/// Index of a chip that takes part in a collective, from 0.
using Rank = std::uint32_t;

/// The displacement from one rank to another, represented by the rank that it leads to from rank 0.
/// A program that refers to ranks by offset is the same for all of them.
using Offset = std::uint32_t;

/// A set of axes: bit k stands for axis k.
using AxisSet = std::uint32_t;

/// Larger than any machine, and small enough for an Offset.
inline constexpr std::uint32_t kMaxRanks = std::uint32_t{1} << 24;

/// Ranks on a grid with wraparound along every axis, numbered row by row with the last axis
/// fastest: one axis for a ring, several for a torus, log2 N axes of length 2 for recursive
/// algorithms, whose partner in round k is the neighbour along axis k.
///
/// An axis may consist of several, its factors, as nodes along two axes of a mesh. A move along it wraps
/// around along each factor, so that it suits exchanges among all of its ranks, but not rings.
///
/// Describes which ranks communicate, not their location: see sim::Machine for chips and routes.
class RankGrid {
 public:
  /// `factors`: by axis, lengths of its factors, the last one fastest; none if empty.
  /// @throws std::invalid_argument unless there are 1 to 32 axes, each of length 2 or more, at most
  /// kMaxRanks ranks, and factors multiply to the length of their axis.
  explicit RankGrid(std::vector<std::uint32_t> lengths,
                    const std::vector<std::vector<std::uint32_t>>& factors = {});

  std::uint32_t ranks() const { return ranks_; }
  std::size_t axes() const { return lengths_.size(); }
  std::uint32_t length(std::size_t axis) const { return lengths_[axis]; }
  const std::vector<std::uint32_t>& lengths() const { return lengths_; }

  /// Coordinate of a rank (or component of an offset) along an axis, in [0, length(axis)).
  std::uint32_t coordinate(Rank rank, std::size_t axis) const {
    const Axis& along = axes_[axis];
    return along.mask != 0 ? (rank >> along.shift) & along.mask
                           : rank / along.stride % along.length;
  }

  /// Offset of `steps` forward along one axis, modulo its length.
  Offset along(std::size_t axis, std::uint32_t steps) const;

  /// Returns the rank at `offset` from `rank`, axis by axis, with wraparound.
  Rank move(Rank rank, Offset offset) const {
    Rank moved = 0;
    for (const auto& [length, stride, bits] : factors_)
      moved += bits != 0 ? ((rank & bits) + (offset & bits)) & bits
                         : (rank / stride % length + offset / stride % length) % length * stride;
    return moved;
  }

  /// Returns the offset between two ranks: move(from, difference(to, from)) == to.
  Offset difference(Rank to, Rank from) const;

  /// Returns the inverse offset.
  Offset reverse(Offset offset) const { return difference(0, offset); }

  /// Number of ranks that differ along the axes of the set only: the product of their lengths.
  std::uint32_t span(AxisSet axes) const;

  /// Returns the offsets to these ranks, including 0 for the own rank, in the order of ranks from
  /// rank 0.
  std::vector<Offset> offsets(AxisSet axes) const;

  AxisSet all_axes() const;

  /// The same ranks and offsets with every factor as an axis.
  RankGrid of_factors() const;

  bool operator==(const RankGrid&) const = default;

 private:
  struct Axis {
    std::uint32_t length = 0;
    std::uint32_t stride = 0;  ///< ranks from one coordinate to the next
    std::uint32_t shift = 0;   ///< if both are powers of two: the coordinate is
    std::uint32_t mask = 0;    ///< rank >> shift & mask; 0 otherwise
    bool operator==(const Axis&) const = default;
  };
  /// A factor of an axis.
  struct Factor {
    std::uint32_t length = 0;
    std::uint32_t stride = 0;
    std::uint32_t bits = 0;  ///< of a rank that hold its coordinate; 0 unless powers of two
    bool operator==(const Factor&) const = default;
  };

  void add_factors(std::size_t axis, const std::vector<std::uint32_t>& lengths);

  std::vector<std::uint32_t> lengths_;
  std::vector<Axis> axes_;
  std::vector<Factor> factors_;  ///< of all axes
  std::uint32_t ranks_ = 1;
};

}  // namespace equarx::collectives
