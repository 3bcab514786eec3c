// How the ranks of a collective are numbered, and how one names another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace equarx::collectives {

/// Number of a chip that takes part in a collective, from 0.
using Rank = std::uint32_t;

/// The way from one rank to another: the rank that it leads to from rank 0. A program that names
/// every rank by its offset is the same for all of them.
using Offset = std::uint32_t;

/// A set of axes: bit k stands for axis k.
using AxisSet = std::uint32_t;

/// More ranks than any machine has, and few enough for an Offset.
inline constexpr std::uint32_t kMaxRanks = std::uint32_t{1} << 24;

/// Ranks on a grid that closes to a ring along every axis, numbered row by row with the last axis
/// fastest: one axis for a ring, several for a torus, log2 N axes of length 2 for recursive
/// algorithms, whose partner in round k is the neighbour along axis k.
///
/// It says who talks to whom, not where they are: see sim::Machine for chips and routes.
class RankGrid {
 public:
  /// @throws std::invalid_argument unless there are 1 to 32 axes, each of length 2 or more, and at
  /// most kMaxRanks ranks.
  explicit RankGrid(std::vector<std::uint32_t> lengths);

  std::uint32_t ranks() const { return ranks_; }
  std::size_t axes() const { return lengths_.size(); }
  std::uint32_t length(std::size_t axis) const { return lengths_[axis]; }
  const std::vector<std::uint32_t>& lengths() const { return lengths_; }

  /// Place of a rank (or component of an offset) along an axis, 0 <= place < length(axis).
  std::uint32_t coordinate(Rank rank, std::size_t axis) const;

  /// `steps` forward along one axis, modulo its length.
  Offset along(std::size_t axis, std::uint32_t steps) const;

  /// Where `offset` leads from `rank`, axis by axis, round the end where it must.
  Rank move(Rank rank, Offset offset) const;

  /// The way from one rank to another: move(from, difference(to, from)) == to.
  Offset difference(Rank to, Rank from) const;

  /// The way back.
  Offset reverse(Offset offset) const { return difference(0, offset); }

  /// Ranks that differ along the axes of the set only: the product of their lengths.
  std::uint32_t span(AxisSet axes) const;

  /// The offsets to them, the own rank's 0 included, by rising rank from rank 0.
  std::vector<Offset> offsets(AxisSet axes) const;

  AxisSet all_axes() const;

  bool operator==(const RankGrid&) const = default;

 private:
  std::vector<std::uint32_t> lengths_;
  std::vector<std::uint32_t> strides_;  ///< ranks from one place to the next, by axis
  std::uint32_t ranks_ = 1;
};

}  // namespace equarx::collectives
