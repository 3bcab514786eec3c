// The algorithms: one row for each, with all that other rooms need to know of it.
//
// To add one, write its program in a file of its own, and its row in algorithm.cpp (docs/add_an_algorithm.md).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/collectives/cut_rule.hpp"
#include "models/collectives/program.hpp"
#include "models/collectives/ring_options.hpp"

namespace equarx::collectives {

/// How the ranks of an algorithm are numbered, and where they stand on a machine.
enum class RankLayout : std::uint8_t {
  ring,       ///< along one ring through all chips
  grid,       ///< along the axes of a grid of chips
  hypercube,  ///< a power of two of them; partners differ in one bit of their numbers
  any,        ///< anyhow: every rank may send to every other
  slices_of_grids,  ///< slices that a network joins, one after the other; along the axes of the grid within each
  slices,  ///< the same, anyhow within each
};

/// Whether it is for slices that a network joins.
bool is_of_slices(RankLayout layout);

/// Where the terms of a sum meet, and so what is quantized how often (models/numerics/errors).
enum class Summation : std::uint8_t {
  along_rings,  ///< term by term, on the way round the rings of one axis after the other
  at_owner,     ///< all at the rank that owns the shard, each sent once
  in_pairs,     ///< two equal sums at a time, at both partners
  everywhere,   ///< all at every rank
};

/// What a program is made from.
struct ProgramRequest {
  Collective collective = Collective::all_reduce;
  RankGrid grid;               ///< as the algorithm's RankLayout asks for
  std::uint64_t elements = 0;  ///< of the tensor on each rank
  numerics::ElementFormat dtype = numerics::ElementFormat::bf16;  ///< of the tensor
  RingStyle ring = RingStyle::full_loop;  ///< of algorithms that have ring styles
  numerics::BlockFormat
      reduce_scatter;  ///< on the wire; of algorithms with one phase, the only format
  numerics::BlockFormat all_gather;
  CutRule cut;
  /// Between slices, where the algorithm is of slices; the formats above are then within them.
  numerics::BlockFormat reduce_scatter_between{};
  numerics::BlockFormat all_gather_between{};
  /// Axes of `grid`, or of that of a slice, that are folded onto a line of chips (RingOptions); none if empty.
  std::vector<bool> folded{};
  double folded_rate = 1.0;  ///< of their links (RingOptions)
};

/// Messages of one size that a rank sends in one phase, before they are cut into microshards.
struct Rounds {
  double count = 0.0;
  std::uint64_t elements = 0;
};

/// An algorithm.
struct AlgorithmInfo {
  std::string_view name;                    ///< in configurations: "halving-doubling"
  std::span<const Collective> collectives;  ///< that it can do
  RankLayout layout = RankLayout::any;
  Summation summation = Summation::at_owner;
  bool has_ring_style = false;  ///< it goes round rings, in either RingStyle
  bool has_two_phases = true;   ///< its AllReduce is a ReduceScatter and an AllGather
  bool can_be_plain = true;     ///< it runs with formats that have no scales
  bool is_published =
      false;  ///< somebody's scheme as it is: run by its name, and not tried by `auto` and `tune`
  bool can_be_quantized = true;  ///< it runs with formats that have scales, where values are summed
  /// Without scales it sums by `add` alone: two terms at a time, at one rank each, which tells others the sum.
  bool adds_in_twos = false;

  /// @throws std::invalid_argument if the tensor has too few elements for its parts.
  Program (*make)(const ProgramRequest& request) = nullptr;
  /// About what a rank sends, for the size of a program before it is made.
  std::vector<Rounds> (*rounds)(const ProgramRequest& request) = nullptr;
  /// About how many channels the program has.
  std::uint64_t (*channels)(const RankGrid& grid) = nullptr;
  /// About how many transfers share links with one, where links are shared.
  double (*sharers)(const RankGrid& grid) = nullptr;

  bool does(Collective collective) const;
  /// Whether the collective can be quantized by it: not where values are only moved.
  bool can_quantize(Collective collective) const;
};

/// A row of the table.
using Algorithm = const AlgorithmInfo*;

/// All of them, in the order in which they are listed and tried.
std::span<const AlgorithmInfo> algorithms();

/// The row with this name; nullptr if there is none.
Algorithm find_algorithm(std::string_view name);

/// Whether ranks sum: in an AllReduce, ReduceScatter or AllGather (of sums), not where values only move.
bool sums(Collective collective);

}  // namespace equarx::collectives
