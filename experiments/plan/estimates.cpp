#include "experiments/plan/estimates.hpp"

#include "experiments/plan/machine.hpp"
#include "experiments/plan/programs.hpp"

namespace equarx::plan {

using collectives::RankGrid;

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

double estimate_simulation_s(const config::CollectiveConfig& collective, const RankGrid& grid,
                             const config::ExperimentConfig& config, sim::Engine engine,
                             double messages) {
  /// Of one message, in seconds; measured on grids of 16 to 256 chips, on cores of 2021
  /// (tests/benchmarks/time_executor_benchmark).
  struct Rates {
    double message;
    double sharer;  ///< for each that shares its links: rates change when a transfer starts or ends
  };
  constexpr Rates kSimgrid{5e-6, 5e-7};
  constexpr Rates kDirect{5e-8, 2e-8};
  const Rates& rates = engine == sim::Engine::simgrid ? kSimgrid : kDirect;
  const bool alone = collective.algorithm->layout == collectives::RankLayout::ring ||
                     config.topology.kind == config::TopologyKind::fully_connected ||
                     has_representatives(collective.algorithm, config);
  const double sharers = alone ? 0.0 : collective.algorithm->sharers(grid);
  return messages * (rates.message + rates.sharer * sharers);
}

}  // namespace equarx::plan
