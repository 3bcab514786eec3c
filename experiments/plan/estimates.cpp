#include "experiments/plan/estimates.hpp"

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
                             const config::ExperimentConfig& config) {
  // Measured on grids of 16 to 256 chips, on cores of 2021 (tests/benchmarks/time_executor_benchmark).
  constexpr double kPerMessage = 5e-6;
  constexpr double kPerSharer = 5e-7;  // which SimGrid looks at whenever a transfer starts or ends
  const bool alone = collective.algorithm->layout == collectives::RankLayout::ring ||
                     config.topology.kind == config::TopologyKind::fully_connected;
  const double shared_s = alone ? 0.0 : kPerSharer * collective.algorithm->sharers(grid);
  return grid.ranks() * estimate_messages(collective, grid, config) * (kPerMessage + shared_s);
}

}  // namespace equarx::plan
