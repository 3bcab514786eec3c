#include "experiments/plan/plan.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "experiments/plan/checks.hpp"
#include "experiments/plan/costs.hpp"
#include "experiments/plan/cut_choice.hpp"
#include "experiments/plan/estimates.hpp"
#include "experiments/plan/programs.hpp"
#include "models/collectives/traffic.hpp"
#include "models/values/value_executor.hpp"

namespace equarx::plan {
namespace {

OrObstacle<CollectivePlan> plan_on_grid(config::CollectiveConfig config,
                                        const collectives::RankGrid& grid, Site& site,
                                        const std::string& pointer) {
  const config::ExperimentConfig& experiment = site.config();
  if (auto obstacle = check_machine_memory(config.algorithm, grid, experiment)) return *obstacle;
  CutChoice cuts = choose_cuts(config, grid, experiment);
  config.sizes = cuts.sizes;
  if (auto obstacle = check_program_size(config, grid, experiment, pointer)) return *obstacle;
  collectives::Program program = make_program(config, grid, experiment);
  if (auto obstacle = check_vmem(program, experiment, pointer)) return *obstacle;
  if (auto obstacle = check_hbm_bandwidth(program, experiment)) return *obstacle;
  sim::Costs costs = program_costs(program, experiment.chip, experiment.wire_buffers);
  OrObstacle<SimulatedMachine> machine = plan_machine(config.algorithm, program, site);
  if (const auto* obstacle = std::get_if<Obstacle>(&machine)) return *obstacle;
  return CollectivePlan{std::move(config),
                        std::move(program),
                        std::move(costs),
                        std::get<SimulatedMachine>(std::move(machine)),
                        {},
                        std::move(cuts.reason)};
}

OrObstacle<CollectivePlan> plan_collective(const config::CollectiveConfig& config, Site& site,
                                           const std::string& pointer) {
  const OrObstacle<collectives::RankGrid> grid =
      rank_grid(config.algorithm, site.config(), pointer + "/algorithm");
  if (const auto* obstacle = std::get_if<Obstacle>(&grid)) return *obstacle;
  const std::uint32_t ranks = std::get<collectives::RankGrid>(grid).ranks();
  if (ranks > numerics::most_ranks(config.format))
    return Obstacle{
        pointer + "/format",
        fmt::format(
            "sums of '{}' codes of {} ranks do not fit into an int8; it is for up to {} ranks",
            config.format.name, ranks, numerics::most_ranks(config.format))};
  try {
    return plan_on_grid(config, std::get<collectives::RankGrid>(grid), site, pointer);
  } catch (const std::invalid_argument& error) {  // of lower rooms, which know no pointers
    return Obstacle{pointer, error.what()};
  }
}

/// An algorithm that is tried among others: not if its simulation would take too long.
OrObstacle<CollectivePlan> plan_trial(const config::CollectiveConfig& candidate, Site& site,
                                      const std::string& pointer) {
  const OrObstacle<double> time_s = simulation_time_s(candidate, site.config(), pointer);
  if (const auto* obstacle = std::get_if<Obstacle>(&time_s)) return *obstacle;
  if (std::get<double>(time_s) > kMostTrialTime)
    return Obstacle{"", fmt::format("not tried: simulating it would take about {:.0f} s; "
                                    "name it to run it",
                                    std::get<double>(time_s))};
  return plan_collective(candidate, site, pointer);
}

/// Every algorithm that can run with this format here; an obstacle if none can.
OrObstacle<PlannedCollective> plan_candidates(const config::CollectiveConfig& config, Site& site,
                                              const std::string& pointer) {
  PlannedCollective planned;
  const collectives::Collective collective = site.config().collective;
  const bool with_network = site.config().topology.network.has_value();
  for (const config::Algorithm algorithm : config::tried_algorithms(collective, with_network)) {
    if (!config::fits_format(algorithm, collective, config.format)) continue;
    const std::string why = why_not(algorithm, site.config());
    if (!why.empty()) {
      planned.unsuited.push_back({algorithm, why});
      continue;
    }
    config::CollectiveConfig candidate = config;
    candidate.algorithm = algorithm;
    OrObstacle<CollectivePlan> plan = plan_trial(candidate, site, pointer);
    if (const auto* obstacle = std::get_if<Obstacle>(&plan))
      planned.unsuited.push_back({algorithm, obstacle->text()});
    else
      planned.candidates.push_back(std::get<CollectivePlan>(std::move(plan)));
  }
  if (planned.candidates.empty())
    return Obstacle{pointer + "/algorithm",
                    planned.unsuited.empty()
                        ? "no algorithm can run with this format"
                        : "no algorithm can run: " + planned.unsuited.front().reason};
  std::ranges::stable_sort(planned.candidates, {}, [](const CollectivePlan& plan) {
    return sim::lower_bound_s(plan.program, plan.simulated.machine, plan.costs);
  });
  return planned;
}

/// The ways of one collective; notes in `collective` how it is cut, so that it is cut so on other chips, too.
OrObstacle<PlannedCollective> plan_ways(config::CollectiveConfig& collective, Site& site,
                                        const std::string& pointer) {
  if (collective.algorithm == config::kAutomatic) return plan_candidates(collective, site, pointer);
  OrObstacle<CollectivePlan> plan = plan_collective(collective, site, pointer);
  if (const auto* obstacle = std::get_if<Obstacle>(&plan)) return *obstacle;
  collective.sizes = std::get<CollectivePlan>(plan).config.sizes;
  PlannedCollective planned;
  planned.candidates.push_back(std::get<CollectivePlan>(std::move(plan)));
  return planned;
}

/// How often the program is simulated.
double count_runs(const std::optional<WorkloadPlan>& workload, bool symmetric) {
  if (!workload) return 1.0;
  if (!symmetric || workload->schedule.overlap > 0) return workload->allreduces;
  double runs = 0.0;  // of one layer of each kind
  for (const LayerKind& layer : workload->layers)
    runs += static_cast<double>(layer.schedule.compute_s.size() - 1);
  return runs;
}

/// Chooses the engine of a plan that is complete but for it.
MaybeObstacle plan_engine(const config::ExperimentConfig& config,
                          const std::optional<WorkloadPlan>& workload, Look look,
                          CollectivePlan& plan) {
  const sim::Machine& machine = plan.simulated.machine;
  const auto messages =
      static_cast<double>(collectives::total_messages(plan.program, machine.ranks()));
  const double runs = count_runs(workload, plan.simulated.symmetric);
  const double simgrid_s = estimate_simulation_s(plan.config, plan.program.grid(), config,
                                                 sim::Engine::simgrid, runs * messages);
  if (look == Look::at_events && !workload) look = Look::at_it;  // of one collective they are few
  OrObstacle<EngineChoice> choice = choose_engine(config.engine, machine, simgrid_s, look);
  if (const auto* obstacle = std::get_if<Obstacle>(&choice)) return *obstacle;
  plan.engine = std::get<EngineChoice>(std::move(choice));
  return std::nullopt;
}

}  // namespace

OrObstacle<double> simulation_time_s(const config::CollectiveConfig& collective,
                                     const config::ExperimentConfig& config,
                                     const std::string& pointer) {
  if (has_representatives(collective.algorithm, config)) return 0.0;
  const OrObstacle<collectives::RankGrid> grid =
      rank_grid(collective.algorithm, config, pointer + "/algorithm");
  if (const auto* obstacle = std::get_if<Obstacle>(&grid)) return *obstacle;
  const auto& ranks = std::get<collectives::RankGrid>(grid);
  const sim::Engine engine =
      config.engine == config::EngineMode::simgrid ? sim::Engine::simgrid : sim::Engine::direct;
  return estimate_simulation_s(collective, ranks, config, engine,
                               ranks.ranks() * estimate_messages(collective, ranks, config));
}

OrObstacle<Plan> try_plan(const config::ExperimentConfig& config, Look look) {
  if (auto obstacle = check_hbm_capacity(config)) return *obstacle;
  Plan plan{config, {}, {}};
  if (config.workload) plan.workload = plan_workload(config);
  Site site(plan.config);
  for (std::size_t i = 0; i < config.collectives.size(); ++i) {
    OrObstacle<PlannedCollective> planned =
        plan_ways(plan.config.collectives[i], site, fmt::format("/collectives/{}", i));
    if (const auto* obstacle = std::get_if<Obstacle>(&planned)) return *obstacle;
    plan.collectives.push_back(std::get<PlannedCollective>(std::move(planned)));
  }
  for (PlannedCollective& collective : plan.collectives)
    for (CollectivePlan& candidate : collective.candidates) {
      if (auto obstacle =
              check_host_memory(candidate.program, plan.config, values::default_threads()))
        return *obstacle;
      if (auto obstacle = plan_engine(plan.config, plan.workload, look, candidate))
        return *obstacle;
    }
  return plan;
}

Plan make_plan(const config::ExperimentConfig& config, Look look) {
  return value_or_throw(try_plan(config, look));
}

Plan on_chip(Plan plan, const hardware::Chip& chip) {
  plan.config.chip = chip;
  plan.config.topology.planned = nullptr;  // its links are those of the chip
  if (plan.workload) plan.workload = plan_workload(plan.config);
  Site site(plan.config);
  for (PlannedCollective& collective : plan.collectives)
    for (CollectivePlan& candidate : collective.candidates) {
      candidate.costs = program_costs(candidate.program, chip, plan.config.wire_buffers);
      candidate.simulated =
          value_or_throw(plan_machine(candidate.config.algorithm, candidate.program, site));
    }
  return plan;
}

}  // namespace equarx::plan
