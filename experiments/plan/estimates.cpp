#include "experiments/plan/estimates.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "experiments/config/algorithm.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/plan/checks.hpp"
#include "experiments/plan/infeasible.hpp"
#include "experiments/plan/machine.hpp"
#include "experiments/plan/programs.hpp"
#include "models/collectives/direct_exchange.hpp"

namespace equarx::plan {

using collectives::RankGrid;

namespace {

/// Flows (transfers and cores) that may be active at once if HBMs couple all simulated chips, and
/// whose rates any start or end changes; 0 if HBM is not shared.
double flows_on_hbms(const config::CollectiveConfig& collective, const RankGrid& grid,
                     const config::ExperimentConfig& config) {
  if (config.wire_buffers == collectives::WireBuffers::vmem) return 0.0;
  const std::size_t channels = collective.algorithm->channels(grid);
  const std::size_t flows_per_chip =
      std::min(channels, std::size_t{collectives::kShardsUnderWay}) + 1;
  const bool symmetric = has_representatives(collective.algorithm, config);
  return static_cast<double>(flows_per_chip) *
         static_cast<double>(symmetric ? channels + 1 : grid.ranks());
}

/// True if transfers of the algorithm share links.
bool shares_links(config::Algorithm algorithm, const config::ExperimentConfig& config) {
  return algorithm->layout != collectives::RankLayout::ring &&
         config.topology.kind != config::TopologyKind::fully_connected &&
         config.topology.kind != config::TopologyKind::on_switch &&
         !has_representatives(algorithm, config);
}

/// True if every rank sends to all others over shared links.
bool is_exchange(config::Algorithm algorithm, const RankGrid& grid,
                 const config::ExperimentConfig& config) {
  return algorithm->is_uniform && shares_links(algorithm, config) && grid.ranks() > 2 &&
         algorithm->channels(grid) == grid.ranks() - 1 && algorithm->sharers(grid) >= grid.ranks();
}

/// Changes of the set of active flows for each pair of ranks of an exchange, relative to
/// shards in one minishard. Shards that wait for others start and end apart, the more minishards they
/// have, until each minishard of a rank goes to all others at once.
double changes_of_pair(double others, double under_way, double minishards) {
  if (under_way >= others) return 1.0;
  constexpr double kApart = 1.7;
  constexpr double kAtOnce = 0.8;
  return std::pow(minishards, minishards <= others / under_way ? kApart : kAtOnce);
}

/// Time of the direct engine to divide shared links between the flows of an exchange, in seconds:
/// each start or end of a flow changes the rates of all. Measured on meshes and tori of 9 to 512
/// chips, on CPUs of 2023 (estimates_benchmark): within a factor of three, but seven times too long on
/// 8x8x8.
double sharing_s(const config::CollectiveConfig& collective, const RankGrid& grid,
                 const config::ExperimentConfig& config, double messages) {
  constexpr double kFlow = 2e-8;         // per active flow and change
  constexpr double kFlowOfClass = 7e-8;  // of one chip for each class, with few flows alike
  constexpr double kRoute = 1.5e-6;      // per route of a machine, to build and to classify it
  const collectives::ProgramRequest request = program_request(collective, grid, config);
  const collectives::Cut cut = collectives::choose_cut(
      request.cut, collective.format, collective.algorithm->rounds(request).front().elements);
  const double of_minishard = cut.microshards + (collective.format.scaled ? 1.0 : 0.0);
  const double ranks = grid.ranks();
  const double under_way = collective.algorithm->sharers(grid) / ranks;
  const double chips = estimate_classes(collective.algorithm, grid, config);
  const double pairs = messages / (cut.minishards * of_minishard) * chips / ranks;
  return pairs * changes_of_pair(ranks - 1.0, under_way, cut.minishards) * chips * under_way *
             (chips < ranks ? kFlowOfClass : kFlow) +
         ranks * (ranks - 1.0) * kRoute;
}

double collective_s(const config::CollectiveConfig& collective,
                    const config::ExperimentConfig& config) {
  constexpr double kBuild = 1e-6;  // per message of a rank
  const Expected<RankGrid> planned = rank_grid(collective.algorithm, config, "");
  if (!planned) return 0.0;
  const RankGrid& grid = *planned;
  if (!check_machine_memory(collective.algorithm, grid, config) ||
      !check_program_size(collective, grid, config, ""))
    return 0.0;
  const bool symmetric = has_representatives(collective.algorithm, config);
  const double chips = symmetric ? static_cast<double>(std::min<std::uint64_t>(
                                       grid.ranks(), collective.algorithm->channels(grid) + 1))
                                 : grid.ranks();
  const double messages = estimate_messages(collective, grid, config);
  const sim::Engine engine =
      config.engine == config::EngineMode::simgrid ? sim::Engine::simgrid : sim::Engine::direct;
  return messages * kBuild +
         (1.0 + config.uncertainty.samples) *
             estimate_simulation_s(collective, grid, config, engine, chips * messages);
}

/// Time of all algorithms that are tried for one collective.
double alternatives_s(const config::CollectiveConfig& collective,
                      const config::ExperimentConfig& config) {
  if (collective.algorithm != config::kAutomatic) return collective_s(collective, config);
  double seconds = 0.0;
  const bool with_network = config.topology.network.has_value();
  for (const config::Algorithm algorithm :
       config::tried_algorithms(config.collective, with_network)) {
    if (!is_considered(algorithm, config.topology)) continue;
    if (!config::fits_format(algorithm, collective.format)) continue;
    config::CollectiveConfig candidate = collective;
    candidate.algorithm = algorithm;
    seconds += collective_s(candidate, config);
  }
  return seconds;
}

}  // namespace

double estimate_messages(const config::CollectiveConfig& collective, const RankGrid& grid,
                         const config::ExperimentConfig& config) {
  const collectives::ProgramRequest request = program_request(collective, grid, config);
  double messages = 0.0;
  for (const collectives::Rounds& rounds : collective.algorithm->rounds(request)) {
    const collectives::Cut cut =
        collectives::choose_cut(request.cut, collective.format, rounds.elements);
    if (cut.minishards * std::uint64_t{cut.microshards} > rounds.elements) return 0.0;
    const double in_minishard = cut.microshards + (collective.format.scaled ? 1.0 : 0.0);
    messages += rounds.count * cut.minishards * in_minishard;
  }
  const bool twice = config.collective == collectives::Collective::all_reduce &&
                     collective.algorithm->has_two_phases;
  return twice ? 2.0 * messages : messages;
}

std::uint32_t estimate_classes(config::Algorithm algorithm, const RankGrid& grid,
                               const config::ExperimentConfig& config) {
  const config::TopologyConfig& topology = config.topology;
  const auto is_closed = [](bool closed) { return closed; };
  if (!is_exchange(algorithm, grid, config) || config.simulation == config::SimulationMode::full ||
      !config::is_grid(topology) || topology.network || !config.faults.empty() ||
      !topology.avoid.empty() || config.tensor.counts ||
      !std::ranges::all_of(topology.shape.wraparound, is_closed))
    return grid.ranks();
  const std::vector<std::uint32_t>& lengths = topology.shape.lengths;
  const bool has_ties = std::ranges::any_of(lengths, [](auto length) { return length % 2 == 0; });
  const std::uint32_t classes = grid.ranks() / std::ranges::min(lengths) * (has_ties ? 2U : 1U);
  return classes <= grid.ranks() / 2 ? classes : grid.ranks();
}

double estimate_simulation_s(const config::CollectiveConfig& collective, const RankGrid& grid,
                             const config::ExperimentConfig& config, sim::Engine engine,
                             double messages) {
  /// Time per message, in seconds; measured on grids of 16 to 256 chips, on CPUs of 2021
  /// (tests/benchmarks/time_executor_benchmark).
  struct Rates {
    double message;
    double sharer;  ///< per flow that shares its links: rates change when a transfer starts or ends
    double flow;    ///< per flow on HBMs, where many start or end at once
  };
  constexpr Rates kSimgrid{5e-6, 5e-7, 3e-8};
  constexpr Rates kDirect{5e-8, 1e-8, 2e-8};
  const config::Algorithm algorithm = collective.algorithm;
  const Rates& rates = engine == sim::Engine::simgrid ? kSimgrid : kDirect;
  const double on_hbms = rates.flow * flows_on_hbms(collective, grid, config);
  if (engine == sim::Engine::direct && is_exchange(algorithm, grid, config))
    return messages * (rates.message + on_hbms) + sharing_s(collective, grid, config, messages);
  const bool on_switch = config.topology.kind == config::TopologyKind::on_switch;
  const double sharers = on_switch
                             ? std::min<double>(static_cast<double>(algorithm->channels(grid)),
                                                collectives::kShardsUnderWay)
                         : shares_links(algorithm, config) ? algorithm->sharers(grid)
                                                           : 0.0;
  return messages * (rates.message + rates.sharer * sharers + on_hbms);
}

double estimate_experiment_s(const config::ExperimentConfig& config) {
  /// Computing the values of one element of one rank; measured on CPUs of 2021.
  constexpr double kElement = 4e-9;
  const double values_s = config.numerics ? kElement * config::count_chips(config.topology) *
                                                static_cast<double>(config.tensor.elements) *
                                                config.tensor.sample
                                          : 0.0;
  if (!check_hbm_capacity(config)) return 0.0;
  double seconds = 0.0;
  for (const config::CollectiveConfig& collective : config.collectives)
    seconds += alternatives_s(collective, config) + values_s;
  return seconds;
}

}  // namespace equarx::plan
