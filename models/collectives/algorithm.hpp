// Table of the algorithms: one row each, with everything that other modules need.
//
// To add one, write its program in a file of its own and its row in algorithm.cpp
// (docs/add_an_algorithm.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "models/collectives/cut_rule.hpp"
#include "models/collectives/program.hpp"
#include "models/collectives/ring_options.hpp"

namespace equarx::collectives {

/// Numbering of an algorithm's ranks and their layout on a machine.
enum class RankLayout : std::uint8_t {
  ring,             ///< one ring through all chips
  grid,             ///< the axes of a grid of chips
  hypercube,        ///< a power of two of ranks; partners differ in one bit of their numbers
  any,              ///< arbitrary: every rank may send to every other
  slices_of_grids,  ///< slices connected by a network, one after the other; a grid within each
  slices,           ///< the same, with arbitrary order within each slice
  nodes,            ///< the same, for slices of chips on a switch
  graph,            ///< chips in their order; every rank sends to those that links join it to
};

/// True if the layout has slices connected by a network.
bool is_of_slices(RankLayout layout);

/// How the terms of a sum are combined, which determines the number of quantizations
/// (models/numerics/errors).
enum class Summation : std::uint8_t {
  along_rings,  ///< term by term along the rings of one axis after the other
  at_owner,     ///< all at the owner of the shard, each sent once
  in_pairs,     ///< pairwise sums of equal size, at both partners
  everywhere,   ///< all terms at every rank, or in the switch between them
};

/// Parameters of a program.
struct ProgramRequest {
  Collective collective = Collective::all_reduce;
  RankGrid grid;               ///< as required by the algorithm's RankLayout
  std::uint64_t elements = 0;  ///< of the tensor on each rank
  numerics::ElementFormat dtype = numerics::ElementFormat::bf16;  ///< of the tensor
  RingStyle ring = RingStyle::full_loop;  ///< for algorithms with ring styles
  numerics::BlockFormat
      reduce_scatter;  ///< wire format; the only one for algorithms with a single phase
  numerics::BlockFormat all_gather;
  CutRule cut;
  /// Wire formats between slices, for algorithms with slices; the formats above then apply within
  /// slices.
  numerics::BlockFormat reduce_scatter_between{};
  numerics::BlockFormat all_gather_between{};
  /// Axes of `grid` (or of a slice's grid) that are folded onto a line of chips (RingOptions); none
  /// if empty.
  std::vector<bool> folded{};
  double folded_rate = 1.0;  ///< rate of their links (RingOptions)
  /// Tiles of workgroups (ExchangeOptions), for algorithms that have them.
  std::uint32_t rows = 0;
  std::uint32_t rows_at_once = 1;
  SumOrder order = SumOrder::arrival;  ///< for algorithms with orders_sums
  bool moves_within_first = false;     ///< hierarchical AllToAll: FirstHop::within
  /// Ranks that send to a server, for algorithms with one; all if absent.
  std::optional<std::uint32_t> uploads{};
  RankGraph graph{};  ///< for RankLayout::graph: ranks joined by links
};

/// Messages of one size that a rank sends in one phase, before the split into microshards.
struct Rounds {
  double count = 0.0;
  std::uint64_t elements = 0;
};

/// An algorithm.
struct AlgorithmInfo {
  std::string_view name;                    ///< as in configurations: "halving-doubling"
  std::span<const Collective> collectives;  ///< supported collectives
  RankLayout layout = RankLayout::any;
  Summation summation = Summation::at_owner;
  bool has_ring_style = false;  ///< supports both RingStyles
  bool has_two_phases = true;   ///< its AllReduce is a ReduceScatter followed by an AllGather
  bool can_be_plain = true;     ///< supports formats without scales
  bool is_published =
      /// A published scheme, reproduced as is: available by name, not tried by `auto` and `tune`.
      false;
  bool can_be_quantized = true;  ///< supports formats with scales
  /// Without scales, it sums with `add` only: two terms at a time, on one rank, which sends the sum
  /// on.
  bool adds_in_twos = false;
  bool is_uniform = true;    ///< every rank runs the same instructions, except in a Broadcast
  bool in_switch = false;    ///< a switch forms the sums and multiplies them
  bool is_tree = false;      ///< one of NCCL's trees, with times of its own under protocols
  bool orders_sums = false;  ///< supports every SumOrder
  bool has_server = false;   ///< rank 0 sums what other ranks send, or some of them (uploads)
  bool in_tiles = false;     ///< its kernel on a GPU carries tiles through (ProgramRequest::rows)
  /// Across slices, a rank sends to those as many slices and chips further on (DirectExchange).
  bool by_slices = false;
  /// Collectives for which NCCL chooses between this algorithm and others.
  std::span<const Collective> of_nccl = {};

  /// @throws std::invalid_argument if the tensor has too few elements for its parts.
  std::function<Program(const ProgramRequest& request)> make = nullptr;
  /// Approximate messages of a rank, to estimate the size of a program before it is built.
  std::vector<Rounds> (*rounds)(const ProgramRequest& request) = nullptr;
  /// Approximate number of channels of the program.
  std::uint64_t (*channels)(const RankGrid& grid) = nullptr;
  /// Approximate number of transfers that contend for links with one transfer, if links are shared.
  double (*sharers)(const RankGrid& grid) = nullptr;

  bool does(Collective collective) const;
};

/// A row of the table.
using Algorithm = const AlgorithmInfo*;

/// Returns all algorithms, in the order of listings and of searches.
std::span<const AlgorithmInfo> algorithms();

/// Returns the row with this name; nullptr if absent.
Algorithm find_algorithm(std::string_view name);

/// True if ranks send partial sums in the phase, rather than terms or complete sums.
bool sends_partial_sums(const AlgorithmInfo& algorithm, Phase phase);

/// True if the collective involves sums: AllReduce, ReduceScatter and AllGather (of sums), not
/// collectives that only move values.
bool sums(Collective collective);

}  // namespace equarx::collectives
