#include "experiments/algorithms.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>

#include <fmt/format.h>

#include "experiments/input_error.hpp"
#include "experiments/nearest.hpp"
#include "experiments/topology_plan.hpp"
#include "models/collectives/broadcast_program.hpp"
#include "models/collectives/exchange_program.hpp"
#include "models/collectives/ring_program.hpp"

namespace equarx::experiments {
namespace {

using collectives::Collective;
using collectives::RankGrid;
using numerics::BlockFormat;

constexpr std::array<std::string_view, 9> kNames = {
    "ring",     "equarx", "torus", "halving-doubling", "recursive-doubling", "one-shot",
    "two-shot", "direct", "auto"};

constexpr std::array kAllReduce = {
    Algorithm::ring,     Algorithm::equarx,           Algorithm::torus,
    Algorithm::two_shot, Algorithm::halving_doubling, Algorithm::recursive_doubling,
    Algorithm::one_shot, Algorithm::automatic};
constexpr std::array kHalves = {Algorithm::ring,   Algorithm::equarx,
                                Algorithm::torus,  Algorithm::halving_doubling,
                                Algorithm::direct, Algorithm::automatic};
constexpr std::array kAllToAll = {Algorithm::direct, Algorithm::automatic};
constexpr std::array kBroadcast = {Algorithm::ring, Algorithm::direct, Algorithm::automatic};

std::string runnable_text(const ExperimentConfig& config) {
  std::vector<std::string_view> names;
  for (const Algorithm other : algorithms_of(config.collective))
    if (why_not(other, config).empty()) names.push_back(name(other));
  return list_of(names);
}

/// Axes of a torus: those that are longer than one chip.
std::vector<std::uint32_t> long_axes(const topology::GridShape& shape) {
  std::vector<std::uint32_t> lengths;
  std::ranges::copy_if(shape.lengths, std::back_inserter(lengths),
                       [](std::uint32_t length) { return length > 1; });
  return lengths;
}

/// A phase that is not quantized is sent in the type of the tensor.
BlockFormat phase_format(const CollectiveConfig& config, QuantizedPhases only_other,
                         numerics::ElementFormat dtype) {
  if (config.format.scaled && config.quantize == only_other) return {.element = dtype};
  return config.format;
}

collectives::CutRule cut_rule(const CollectiveConfig& config) {
  return {config.minishards, config.microshards, config.elements_per_scale};
}

collectives::Program make_rings(const CollectiveConfig& collective, const RankGrid& grid,
                                const ExperimentConfig& config) {
  const numerics::ElementFormat dtype = config.tensor.dtype;
  const bool halving = collective.algorithm == Algorithm::halving_doubling;
  return collectives::make_ring_program(
      grid, config.tensor.elements, dtype,
      {.style = halving ? collectives::RingStyle::semi_loop : collective.ring,
       .reduce_scatter = phase_format(collective, QuantizedPhases::all_gather, dtype),
       .all_gather = phase_format(collective, QuantizedPhases::reduce_scatter, dtype),
       .cut = cut_rule(collective),
       .collective = config.collective,
       .axes = {},
       .rotate_axes = !halving});
}

collectives::Program make_exchange(const CollectiveConfig& collective, const RankGrid& grid,
                                   const ExperimentConfig& config) {
  const std::uint64_t elements = config.tensor.elements;
  const numerics::ElementFormat dtype = config.tensor.dtype;
  const collectives::ExchangeOptions options{
      phase_format(collective, QuantizedPhases::all_gather, dtype),
      phase_format(collective, QuantizedPhases::reduce_scatter, dtype), cut_rule(collective)};
  switch (collective.algorithm) {
    case Algorithm::one_shot:
      return collectives::make_one_shot_all_reduce(grid.ranks(), elements, dtype, options);
    case Algorithm::recursive_doubling:
      return collectives::make_recursive_doubling(grid, elements, dtype, options);
    default:
      return collectives::make_direct_exchange(config.collective, grid.ranks(), elements, dtype,
                                               options);
  }
}

std::uint64_t divide_up(std::uint64_t value, std::uint64_t divisor) {
  return value / divisor + (value % divisor != 0 ? 1 : 0);
}

/// Messages of a chunk.
struct Rounds {
  double count = 0.0;  ///< that a rank sends in one phase
  std::uint64_t elements = 0;
};

/// One stage along every axis, in as many segments as there are orders of them and directions.
std::vector<Rounds> ring_rounds(const CollectiveConfig& collective, const RankGrid& grid,
                                std::uint64_t elements) {
  const bool halving = collective.algorithm == Algorithm::halving_doubling;
  const std::size_t segments =
      halving ? 1 : grid.axes() * collectives::ring_segments(collective.ring);
  std::vector<Rounds> rounds;
  for (std::size_t first = 0; first < (halving ? 1 : grid.axes()); ++first) {
    std::uint64_t chunk = divide_up(elements, segments);
    for (std::size_t i = 0; i < grid.axes(); ++i) {
      const std::uint32_t length = grid.length((first + i) % grid.axes());
      chunk = divide_up(chunk, length);
      rounds.push_back(
          {static_cast<double>(length - 1) * collectives::ring_segments(collective.ring), chunk});
    }
  }
  return rounds;
}

/// About what a rank sends.
std::vector<Rounds> rounds_of(const CollectiveConfig& collective, const RankGrid& grid,
                              const ExperimentConfig& config) {
  const std::uint64_t elements = config.tensor.elements;
  const double others = grid.ranks() - 1.0;
  if (config.collective == Collective::broadcast)
    return {{collective.algorithm == Algorithm::ring ? 2.0 : others, elements}};
  switch (collective.algorithm) {
    case Algorithm::one_shot: return {{others, elements}};
    case Algorithm::recursive_doubling: return {{static_cast<double>(grid.axes()), elements}};
    case Algorithm::two_shot:
    case Algorithm::direct: return {{others, divide_up(elements, grid.ranks())}};
    default: return ring_rounds(collective, grid, elements);
  }
}

/// About how many transfers share links with one, each of which SimGrid looks at again whenever one of
/// them starts or ends.
double sharers(Algorithm algorithm, const RankGrid& grid) {
  const double ranks = grid.ranks();
  const double others = ranks - 1.0;
  switch (algorithm) {
    case Algorithm::one_shot: return ranks * others;
    case Algorithm::two_shot:
    case Algorithm::direct: return ranks * std::min<double>(others, collectives::kRoundsUnderWay);
    case Algorithm::halving_doubling:
    case Algorithm::recursive_doubling: return ranks / 4.0;  // measured
    default: return 2.0 * std::ranges::max(grid.lengths());  // of an axis that is folded
  }
}

}  // namespace

std::string_view name(Algorithm algorithm) { return kNames[static_cast<std::size_t>(algorithm)]; }

std::span<const Algorithm> algorithms_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce: return kAllReduce;
    case Collective::reduce_scatter:
    case Collective::all_gather: return kHalves;
    case Collective::all_to_all: return kAllToAll;
    case Collective::broadcast: return kBroadcast;
  }
  throw std::logic_error("unknown collective");
}

bool needs_ring(Algorithm algorithm) {
  return algorithm == Algorithm::ring || algorithm == Algorithm::equarx;
}

bool has_ring_style(Algorithm algorithm) {
  return needs_ring(algorithm) || algorithm == Algorithm::torus ||
         algorithm == Algorithm::automatic;
}

bool has_two_phases(Algorithm algorithm) {
  return algorithm != Algorithm::one_shot && algorithm != Algorithm::recursive_doubling;
}

bool can_be_quantized(Collective collective, Algorithm algorithm) {
  const bool moves_only =
      collective == Collective::all_to_all || collective == Collective::broadcast;
  return algorithm != Algorithm::ring && !moves_only;
}

bool can_be_plain(Algorithm algorithm) { return algorithm != Algorithm::equarx; }

std::string why_not(Algorithm algorithm, const ExperimentConfig& config) {
  const std::uint32_t chips = count_chips(config.topology);
  const bool goes_anywhere = needs_ring(algorithm) || algorithm == Algorithm::automatic;
  if (!goes_anywhere && !config.topology.avoid.empty())
    return "cannot go round the cables of /topology/avoid, as a ring can";
  switch (algorithm) {
    case Algorithm::torus:
      return is_grid(config.topology) ? "" : "needs a grid of chips: a slice, mesh, torus or ring";
    case Algorithm::halving_doubling:
    case Algorithm::recursive_doubling:
      return std::has_single_bit(chips)
                 ? ""
                 : fmt::format("needs a power of two of chips, and there are {}", chips);
    default: return "";
  }
}

RankGrid rank_grid(Algorithm algorithm, const ExperimentConfig& config, const std::string& place) {
  const std::uint32_t chips = count_chips(config.topology);
  if (chips < 2) throw InputError("/topology", "a collective needs at least two chips");
  const std::string obstacle = why_not(algorithm, config);
  if (!obstacle.empty())
    throw InputError(place, fmt::format("'{}' {}; this topology can run {}", name(algorithm),
                                        obstacle, runnable_text(config)));
  switch (algorithm) {
    case Algorithm::torus: return RankGrid(long_axes(config.topology.shape));
    case Algorithm::halving_doubling:
    case Algorithm::recursive_doubling:
      return RankGrid(
          std::vector<std::uint32_t>(static_cast<std::size_t>(std::countr_zero(chips)), 2));
    default: return RankGrid({chips});
  }
}

double estimate_messages(const CollectiveConfig& collective, const RankGrid& grid,
                         const ExperimentConfig& config) {
  const bool both =
      config.collective == Collective::all_reduce && has_two_phases(collective.algorithm);
  double messages = 0.0;
  for (const Rounds& rounds : rounds_of(collective, grid, config)) {
    const collectives::Cut cut =
        collectives::choose_cut(cut_rule(collective), collective.format, rounds.elements);
    if (cut.minishards * std::uint64_t{cut.microshards} > rounds.elements) return 0.0;
    const double in_minishard = cut.microshards + (collective.format.scaled ? 1.0 : 0.0);
    messages += rounds.count * cut.minishards * in_minishard;
  }
  return both ? 2.0 * messages : messages;
}

std::uint64_t estimate_channels(Algorithm algorithm, const RankGrid& grid) {
  switch (algorithm) {
    case Algorithm::one_shot:
    case Algorithm::two_shot:
    case Algorithm::direct: return grid.ranks() - 1;
    case Algorithm::halving_doubling:
    case Algorithm::recursive_doubling: return grid.axes();
    default: return collectives::kDirections * grid.axes() * grid.axes();  // by order of the axes
  }
}

double estimate_simulation_s(const CollectiveConfig& collective, const RankGrid& grid,
                             const ExperimentConfig& config) {
  constexpr double kPerMessage = 5e-6;  // measured, as kPerSharer, on grids of 16 to 256 chips
  constexpr double kPerSharer = 5e-7;
  const bool alone =
      needs_ring(collective.algorithm) || config.topology.kind == TopologyKind::fully_connected;
  const double shared_s = alone ? 0.0 : kPerSharer * sharers(collective.algorithm, grid);
  return grid.ranks() * estimate_messages(collective, grid, config) * (kPerMessage + shared_s);
}

collectives::Program make_program(const CollectiveConfig& collective, const RankGrid& grid,
                                  const ExperimentConfig& config) {
  if (config.collective == Collective::broadcast) {
    const auto make = collective.algorithm == Algorithm::ring ? collectives::make_ring_broadcast
                                                              : collectives::make_direct_broadcast;
    return make(grid.ranks(), config.tensor.elements, config.tensor.dtype,
                {collective.ring, collective.format, cut_rule(collective)});
  }
  switch (collective.algorithm) {
    case Algorithm::ring:
    case Algorithm::equarx:
    case Algorithm::torus:
    case Algorithm::halving_doubling: return make_rings(collective, grid, config);
    default: return make_exchange(collective, grid, config);
  }
}

}  // namespace equarx::experiments
