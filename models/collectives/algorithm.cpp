#include "models/collectives/algorithm.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "models/collectives/broadcast_program.hpp"
#include "models/collectives/direct_exchange.hpp"
#include "models/collectives/divide_up.hpp"
#include "models/collectives/double_tree_program.hpp"
#include "models/collectives/exchange_program.hpp"
#include "models/collectives/hierarchical_all_to_all.hpp"
#include "models/collectives/hierarchical_program.hpp"
#include "models/collectives/in_switch_program.hpp"
#include "models/collectives/neighbor_program.hpp"
#include "models/collectives/node_ring_program.hpp"
#include "models/collectives/quickreduce_program.hpp"
#include "models/collectives/ring_program.hpp"
#include "models/collectives/ring_tours.hpp"
#include "models/collectives/server_program.hpp"
#include "models/collectives/tree_program.hpp"

namespace equarx::collectives {
namespace {

constexpr std::array kAllReduce = {Collective::all_reduce};
constexpr std::array kSums = {Collective::all_reduce, Collective::reduce_scatter};
constexpr std::array kReductions = {Collective::all_reduce, Collective::reduce_scatter,
                                    Collective::all_gather};
constexpr std::array kReductionsAndBroadcast = {Collective::all_reduce, Collective::reduce_scatter,
                                                Collective::all_gather, Collective::broadcast};
constexpr std::array kAllToAll = {Collective::all_to_all};
constexpr std::array kNeighborAverage = {Collective::neighbor_average};
constexpr std::array kHalvesAndMoves = {Collective::reduce_scatter, Collective::all_gather,
                                        Collective::all_to_all, Collective::broadcast};

double others(const RankGrid& grid) { return grid.ranks() - 1.0; }

// --- Rings

RingOptions ring_options(const ProgramRequest& request) {
  return {.style = request.ring,
          .reduce_scatter = request.reduce_scatter,
          .all_gather = request.all_gather,
          .cut = request.cut,
          .collective = request.collective,
          .axes = {},
          .rotate_axes = true,
          .folded = request.folded,
          .folded_rate = request.folded_rate};
}

Program make_rings(const ProgramRequest& request) {
  return make_ring_program(request.grid, request.elements, request.dtype, ring_options(request));
}

Program make_ring(const ProgramRequest& request) {
  if (request.collective != Collective::broadcast) return make_rings(request);
  return make_ring_broadcast(request.grid.ranks(), request.elements, request.dtype,
                             {request.ring, request.reduce_scatter, request.cut});
}

/// Appends one stage along each of `axes`, once per direction.
void append_stages(const RankGrid& grid, const std::vector<std::size_t>& axes,
                   std::uint64_t segment_elements, std::uint32_t directions,
                   std::vector<Rounds>& rounds) {
  std::uint64_t chunk = segment_elements;
  for (const std::size_t axis : axes) {
    const std::uint32_t length = grid.length(axis);
    chunk = divide_up(chunk, length);
    rounds.push_back({static_cast<double>(length - 1) * directions, chunk});
  }
}

std::vector<Rounds> rounds_of_rings(const ProgramRequest& request) {
  const std::uint32_t directions = ring_segments(request.ring);
  const std::vector<RingTour> tours =
      ring_tours(request.grid, request.elements, ring_options(request));
  std::uint64_t shares = 0;
  for (const RingTour& tour : tours) shares += tour.share;
  std::vector<Rounds> rounds;
  for (const RingTour& tour : tours)
    append_stages(request.grid, tour.axes,
                  divide_up(request.elements * tour.share, shares * directions), directions,
                  rounds);
  return rounds;
}

std::vector<Rounds> rounds_of_ring(const ProgramRequest& request) {
  if (request.collective == Collective::broadcast) return {{2.0, request.elements}};
  return rounds_of_rings(request);
}

/// One per order of the axes; unequal axes may double the number of orders (ring_tours()).
std::uint64_t channels_of_rings(const RankGrid& grid) {
  const auto [shortest, longest] = std::ranges::minmax(grid.lengths());
  return kDirections * grid.axes() * grid.axes() * (shortest == longest ? 1 : 2);
}

/// For a folded axis.
double sharers_of_rings(const RankGrid& grid) { return 2.0 * std::ranges::max(grid.lengths()); }

// --- Partners at doubling distances

/// Rings of two along every axis, in a single order and direction.
Program make_halving_doubling(const ProgramRequest& request) {
  RingOptions options = ring_options(request);
  options.style = RingStyle::semi_loop;
  options.rotate_axes = false;
  return make_ring_program(request.grid, request.elements, request.dtype, options);
}

std::vector<Rounds> rounds_of_halving_doubling(const ProgramRequest& request) {
  std::vector<Rounds> rounds;
  std::vector<std::size_t> axes(request.grid.axes());
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  append_stages(request.grid, axes, request.elements, ring_segments(request.ring), rounds);
  return rounds;
}

ExchangeOptions exchange_options(const ProgramRequest& request) {
  return {.reduce_scatter = request.reduce_scatter,
          .all_gather = request.all_gather,
          .cut = request.cut,
          .rows = request.rows,
          .rows_at_once = request.rows_at_once,
          .order = request.order};
}

Program make_doubling(const ProgramRequest& request) {
  return make_recursive_doubling(request.grid, request.elements, request.dtype,
                                 exchange_options(request));
}

std::vector<Rounds> rounds_of_doubling(const ProgramRequest& request) {
  return {{static_cast<double>(request.grid.axes()), request.elements}};
}

Program make_tree(const ProgramRequest& request) {
  return make_binomial_tree(request.grid, request.elements, request.dtype,
                            exchange_options(request));
}

/// All ranks except one send once in each phase.
std::vector<Rounds> rounds_of_tree(const ProgramRequest& request) {
  return {{others(request.grid) / request.grid.ranks(), request.elements}};
}

std::uint64_t channels_by_axis(const RankGrid& grid) { return grid.axes(); }

double sharers_of_partners(const RankGrid& grid) {
  constexpr double kShare = 4.0;  // measured on meshes of 16 to 256 chips
  return grid.ranks() / kShare;
}

// --- All to all others

Program make_one_shot(const ProgramRequest& request) {
  return make_one_shot_all_reduce(request.grid.ranks(), request.elements, request.dtype,
                                  exchange_options(request));
}

std::vector<Rounds> rounds_of_one_shot(const ProgramRequest& request) {
  return {{others(request.grid), request.elements}};
}

double sharers_of_one_shot(const RankGrid& grid) { return grid.ranks() * others(grid); }

Program make_in_switch(const ProgramRequest& request) {
  const auto make = request.collective == Collective::all_reduce   ? make_in_switch_all_reduce
                    : request.collective == Collective::all_gather ? make_in_switch_all_gather
                                                                   : make_in_switch_reduce_scatter;
  return make(request.grid.ranks(), request.elements, request.dtype, exchange_options(request));
}

/// Terms and sums of an AllReduce; the terms of all shards, or the own shard.
std::vector<Rounds> rounds_in_switch(const ProgramRequest& request) {
  if (request.collective == Collective::all_reduce) return {{2.0, request.elements}};
  const std::uint32_t ranks = request.grid.ranks();
  const double shards = request.collective == Collective::reduce_scatter ? ranks : 1.0;
  return {{shards, divide_up(request.elements, ranks)}};
}

std::uint64_t channels_in_switch(const RankGrid&) { return 2; }

double sharers_in_switch(const RankGrid&) { return 1.0; }

Program make_direct(const ProgramRequest& request) {
  if (request.collective == Collective::broadcast)
    return make_direct_broadcast(request.grid.ranks(), request.elements, request.dtype,
                                 {request.ring, request.reduce_scatter, request.cut});
  return make_direct_exchange(request.collective, request.grid, request.elements, request.dtype,
                              exchange_options(request));
}

Program make_pairwise(const ProgramRequest& request) {
  ExchangeOptions options = exchange_options(request);
  options.in_turn = true;
  return make_direct_exchange(request.collective, request.grid, request.elements, request.dtype,
                              options);
}

Program make_two_hops(const ProgramRequest& request) {
  return make_hierarchical_all_to_all(
      request.grid, request.elements, request.dtype, exchange_options(request),
      request.moves_within_first ? FirstHop::within : FirstHop::between);
}

/// Every shard moves along both axes, unless its receiver is on one of them.
std::vector<Rounds> rounds_of_two_hops(const ProgramRequest& request) {
  const double nodes = request.grid.length(0);
  const double chips = request.grid.length(1);
  return {{nodes * (chips - 1.0) + chips * (nodes - 1.0),
           divide_up(request.elements, request.grid.ranks())}};
}

Program make_quick(const ProgramRequest& request) {
  return make_quickreduce(request.grid.ranks(), request.elements, request.dtype,
                          exchange_options(request));
}

std::vector<Rounds> rounds_of_direct(const ProgramRequest& request) {
  const RankGrid& grid = request.grid;
  const bool whole = request.collective == Collective::broadcast;
  return {{others(grid), whole ? request.elements : divide_up(request.elements, grid.ranks())}};
}

std::uint64_t channels_to_others(const RankGrid& grid) { return grid.ranks() - 1; }

double sharers_of_direct(const RankGrid& grid) {
  return grid.ranks() * std::min<double>(others(grid), kShardsUnderWay);
}

Program make_server(const ProgramRequest& request) {
  return make_server_all_reduce(request.grid.ranks(), request.elements, request.dtype,
                                exchange_options(request), request.uploads);
}

double sharers_of_server(const RankGrid& grid) { return grid.ranks(); }

Program make_with_neighbors(const ProgramRequest& request) {
  return make_neighbor_average(request.graph, request.elements, request.dtype,
                               exchange_options(request));
}

std::vector<Rounds> rounds_with_neighbors(const ProgramRequest& request) {
  const auto messages = static_cast<double>(request.graph.messages());
  return {{messages / request.graph.ranks(), request.elements}};
}

double sharers_of_neighbors(const RankGrid&) { return 1.0; }

// --- Slices connected by a network

ExchangeOptions between_options(const ProgramRequest& request) {
  return {request.reduce_scatter_between, request.all_gather_between, request.cut};
}

Program make_rings_of_slices(const ProgramRequest& request) {
  return make_hierarchical_rings(request.grid, request.elements, request.dtype,
                                 ring_options(request), between_options(request));
}

template <bool kCodesOwn>
Program make_exchanges_of_slices(const ProgramRequest& request) {
  return make_hierarchical_exchange(request.collective, request.grid, request.elements,
                                    request.dtype, exchange_options(request),
                                    between_options(request), kCodesOwn);
}

/// The request restricted to one slice.
ProgramRequest within_slice(ProgramRequest request) {
  request.grid = within_slice(request.grid);
  return request;
}

/// A shard to each other slice.
Rounds rounds_between(const ProgramRequest& request) {
  return {request.grid.length(kSliceAxis) - 1.0, divide_up(request.elements, request.grid.ranks())};
}

std::vector<Rounds> rounds_of_rings_of_slices(const ProgramRequest& request) {
  std::vector<Rounds> rounds = rounds_of_rings(within_slice(request));
  rounds.push_back(rounds_between(request));
  return rounds;
}

std::vector<Rounds> rounds_of_exchanges_of_slices(const ProgramRequest& request) {
  std::vector<Rounds> rounds = rounds_of_direct(within_slice(request));
  rounds.push_back(rounds_between(request));
  return rounds;
}

std::uint64_t channels_of_rings_of_slices(const RankGrid& grid) {
  return channels_of_rings(within_slice(grid)) + grid.length(kSliceAxis) - 1;
}

std::uint64_t channels_of_exchanges_of_slices(const RankGrid& grid) {
  return grid.length(1) - 1 + grid.length(kSliceAxis) - 1;
}

double sharers_of_exchanges_of_slices(const RankGrid& grid) {
  return sharers_of_direct(within_slice(grid));
}

// --- Nodes of chips on a switch

Program make_rings_of_nodes(const ProgramRequest& request) {
  return make_node_rings(request.collective, request.grid, request.elements, request.dtype,
                         exchange_options(request));
}

/// Given minishards, into which rounds are cut elsewhere.
double unused_minishards(const ProgramRequest& request) {
  return request.cut.minishards.value_or(1);
}

std::vector<Rounds> rounds_of_rings_of_nodes(const ProgramRequest& request) {
  const RankGrid& grid = request.grid;
  const std::uint32_t rings = grid.length(kChipAxis);
  return {{rings * others(grid) / unused_minishards(request),
           divide_up(request.elements, std::uint64_t{grid.ranks()} * rings)}};
}

std::uint64_t channels_of_rings_of_nodes(const RankGrid& grid) { return grid.length(kChipAxis); }

Program make_trees_of_nodes(const ProgramRequest& request) {
  return make_double_trees(request.grid, request.elements, request.dtype,
                           exchange_options(request));
}

/// Up and down, at every position of the chains of both trees.
std::vector<Rounds> rounds_of_trees_of_nodes(const ProgramRequest& request) {
  const std::uint32_t chains = kTrees * request.grid.length(kChipAxis);
  const std::uint64_t part = divide_up(request.elements, chains);
  const std::uint32_t parts =  // if given, microshards of each round
      request.cut.microshards ? 1 : tree_microshards(request.cut, request.reduce_scatter, part);
  return {{2.0 * chains * parts / unused_minishards(request), divide_up(part, parts)}};
}

/// Along the chains, and to nodes at twice as many distances as there are powers of two, both ways.
std::uint64_t channels_of_trees_of_nodes(const RankGrid& grid) {
  const auto distances = static_cast<std::uint64_t>(std::bit_width(grid.length(kSliceAxis)));
  return 2 * kTrees * (grid.length(kChipAxis) + 2 * distances);
}

double sharers_of_nodes(const RankGrid&) { return 1.0; }

// --- The table

/// Initialised on first use, as static configurations of other files need it.
const auto& table() {
  static const std::array algorithms = {
      // One plain ring through all chips; sums in the wire format.
      AlgorithmInfo{.name = "ring",
                    .collectives = kReductionsAndBroadcast,
                    .layout = RankLayout::ring,
                    .summation = Summation::along_rings,
                    .has_ring_style = true,
                    .can_be_quantized = false,
                    .adds_in_twos = true,
                    .of_nccl = kReductionsAndBroadcast,
                    .make = make_ring,
                    .rounds = rounds_of_ring,
                    .channels = channels_of_rings,
                    .sharers = sharers_of_rings},
      // The same, quantized per block, with FP32 sums.
      AlgorithmInfo{.name = "equarx",
                    .collectives = kReductionsAndBroadcast,
                    .layout = RankLayout::ring,
                    .summation = Summation::along_rings,
                    .has_ring_style = true,
                    .can_be_plain = false,
                    .make = make_ring,
                    .rounds = rounds_of_ring,
                    .channels = channels_of_rings,
                    .sharers = sharers_of_rings},
      // Rings along all axes of a grid concurrently.
      AlgorithmInfo{.name = "torus",
                    .collectives = kReductions,
                    .layout = RankLayout::grid,
                    .summation = Summation::along_rings,
                    .has_ring_style = true,
                    .adds_in_twos = true,
                    .make = make_rings,
                    .rounds = rounds_of_rings,
                    .channels = channels_of_rings,
                    .sharers = sharers_of_rings},
      // Every rank sends each shard to its owner, and the owner sends the sum to all.
      AlgorithmInfo{.name = "two-shot",
                    .collectives = kAllReduce,
                    .orders_sums = true,
                    .in_tiles = true,
                    .by_slices = true,
                    .make = make_direct,
                    .rounds = rounds_of_direct,
                    .channels = channels_to_others,
                    .sharers = sharers_of_direct},
      // Partners at doubling distances exchange halves, quarters, ...
      AlgorithmInfo{.name = "halving-doubling",
                    .collectives = kReductions,
                    .layout = RankLayout::hypercube,
                    .summation = Summation::along_rings,
                    .adds_in_twos = true,
                    .make = make_halving_doubling,
                    .rounds = rounds_of_halving_doubling,
                    .channels = channels_by_axis,
                    .sharers = sharers_of_partners},
      // Partners at doubling distances exchange the whole tensor.
      AlgorithmInfo{.name = "recursive-doubling",
                    .collectives = kAllReduce,
                    .layout = RankLayout::hypercube,
                    .summation = Summation::in_pairs,
                    .has_two_phases = false,
                    .make = make_doubling,
                    .rounds = rounds_of_doubling,
                    .channels = channels_by_axis,
                    .sharers = sharers_of_partners},
      // Every rank sends its whole tensor to all others.
      AlgorithmInfo{.name = "one-shot",
                    .collectives = kAllReduce,
                    .summation = Summation::everywhere,
                    .has_two_phases = false,
                    .make = make_one_shot,
                    .rounds = rounds_of_one_shot,
                    .channels = channels_to_others,
                    .sharers = sharers_of_one_shot},
      // A switch adds the tensors of all ranks and sends every rank the sum.
      AlgorithmInfo{.name = "nvls",
                    .collectives = kReductions,
                    .summation = Summation::everywhere,
                    .has_two_phases = false,
                    .can_be_quantized = false,
                    .in_switch = true,
                    .of_nccl = kReductions,
                    .make = make_in_switch,
                    .rounds = rounds_in_switch,
                    .channels = channels_in_switch,
                    .sharers = sharers_in_switch},
      // Rings through all chips of all nodes, one for each chip of a node.
      AlgorithmInfo{.name = "node-ring",
                    .collectives = kReductions,
                    .layout = RankLayout::nodes,
                    .summation = Summation::along_rings,
                    .can_be_quantized = false,
                    .adds_in_twos = true,
                    .of_nccl = kReductions,
                    .make = make_rings_of_nodes,
                    .rounds = rounds_of_rings_of_nodes,
                    .channels = channels_of_rings_of_nodes,
                    .sharers = sharers_of_nodes},
      // Two trees of nodes, and a chain through the chips of each.
      AlgorithmInfo{.name = "tree",
                    .collectives = kAllReduce,
                    .layout = RankLayout::nodes,
                    .summation = Summation::in_pairs,
                    .has_two_phases = false,
                    .can_be_quantized = false,
                    .adds_in_twos = true,
                    .is_uniform = false,
                    .is_tree = true,
                    .of_nccl = kAllReduce,
                    .make = make_trees_of_nodes,
                    .rounds = rounds_of_trees_of_nodes,
                    .channels = channels_of_trees_of_nodes,
                    .sharers = sharers_of_nodes},
      // Every part directly to its destination.
      AlgorithmInfo{.name = "direct",
                    .collectives = kHalvesAndMoves,
                    .orders_sums = true,
                    .by_slices = true,
                    .of_nccl = kAllToAll,
                    .make = make_direct,
                    .rounds = rounds_of_direct,
                    .channels = channels_to_others,
                    .sharers = sharers_of_direct},
      // One partner at a time.
      AlgorithmInfo{.name = "pairwise",
                    .collectives = kAllToAll,
                    .make = make_pairwise,
                    .rounds = rounds_of_direct,
                    .channels = channels_to_others,
                    .sharers = sharers_of_direct},
      // Two hops: between nodes and within them.
      AlgorithmInfo{.name = "hierarchical-direct",
                    .collectives = kAllToAll,
                    .layout = RankLayout::slices,
                    .make = make_two_hops,
                    .rounds = rounds_of_two_hops,
                    .channels = channels_of_exchanges_of_slices,
                    .sharers = sharers_of_exchanges_of_slices},
      // Rings within every slice, and direct exchange between slices.
      AlgorithmInfo{.name = "hierarchical",
                    .collectives = kReductions,
                    .layout = RankLayout::slices_of_grids,
                    .summation = Summation::along_rings,
                    .has_ring_style = true,
                    .make = make_rings_of_slices,
                    .rounds = rounds_of_rings_of_slices,
                    .channels = channels_of_rings_of_slices,
                    .sharers = sharers_of_rings},
      // Direct exchange within slices as well.
      AlgorithmInfo{.name = "hierarchical-two-shot",
                    .collectives = kReductions,
                    .layout = RankLayout::slices,
                    .summation = Summation::at_owner,
                    .make = make_exchanges_of_slices<false>,
                    .rounds = rounds_of_exchanges_of_slices,
                    .channels = channels_of_exchanges_of_slices,
                    .sharers = sharers_of_exchanges_of_slices},
      // The same, but a rank's own part is encoded too, and terms are summed in the order of ranks.
      AlgorithmInfo{.name = "qgz",
                    .collectives = kSums,
                    .layout = RankLayout::slices,
                    .summation = Summation::at_owner,
                    .is_published = true,
                    .make = make_exchanges_of_slices<true>,
                    .rounds = rounds_of_exchanges_of_slices,
                    .channels = channels_of_exchanges_of_slices,
                    .sharers = sharers_of_exchanges_of_slices},
      // Two-shot, but a rank's own part is encoded too, and terms are summed in the order of ranks.
      AlgorithmInfo{.name = "quickreduce",
                    .collectives = kAllReduce,
                    .is_published = true,
                    .in_tiles = true,
                    .make = make_quick,
                    .rounds = rounds_of_direct,
                    .channels = channels_to_others,
                    .sharers = sharers_of_direct},
      // The whole tensor up a tree, and the sum back down.
      AlgorithmInfo{.name = "binomial-tree",
                    .collectives = kAllReduce,
                    .layout = RankLayout::hypercube,
                    .summation = Summation::in_pairs,
                    .is_published = true,
                    .can_be_quantized = false,
                    .adds_in_twos = true,
                    .is_uniform = false,
                    .make = make_tree,
                    .rounds = rounds_of_tree,
                    .channels = channels_by_axis,
                    .sharers = sharers_of_partners},
      // Every rank sends its whole tensor to rank 0, which sends the sum to all.
      AlgorithmInfo{.name = "server",
                    .collectives = kAllReduce,
                    .is_published = true,
                    .is_uniform = false,
                    .has_server = true,
                    .make = make_server,
                    .rounds = rounds_of_tree,
                    .channels = channels_to_others,
                    .sharers = sharers_of_server},
      // Every rank sends its whole tensor to its neighbours.
      AlgorithmInfo{.name = "neighbors",
                    .collectives = kNeighborAverage,
                    .layout = RankLayout::graph,
                    .summation = Summation::everywhere,
                    .has_two_phases = false,
                    .is_uniform = false,
                    .make = make_with_neighbors,
                    .rounds = rounds_with_neighbors,
                    .channels = channels_to_others,
                    .sharers = sharers_of_neighbors},
  };
  return algorithms;
}

}  // namespace

bool is_of_slices(RankLayout layout) {
  return layout == RankLayout::slices_of_grids || layout == RankLayout::slices ||
         layout == RankLayout::nodes;
}

bool AlgorithmInfo::does(Collective collective) const {
  return std::ranges::find(collectives, collective) != collectives.end();
}

std::span<const AlgorithmInfo> algorithms() { return table(); }

Algorithm find_algorithm(std::string_view name) {
  const auto found = std::ranges::find(table(), name, &AlgorithmInfo::name);
  return found == table().end() ? nullptr : &*found;
}

bool sends_partial_sums(const AlgorithmInfo& algorithm, Phase phase) {
  if (gathers(phase)) return false;
  if (phase == Phase::reduce_scatter_between) return true;
  return algorithm.summation == Summation::along_rings ||
         algorithm.summation == Summation::in_pairs;
}

bool sums(Collective collective) {
  return !differs_by_rank(collective) && collective != Collective::broadcast;
}

}  // namespace equarx::collectives
