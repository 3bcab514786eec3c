#include "experiments/plan/plan.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "base/input/pointer.hpp"
#include "experiments/plan/checks.hpp"
#include "experiments/plan/costs.hpp"
#include "experiments/plan/cut_choice.hpp"
#include "experiments/plan/estimates.hpp"
#include "experiments/plan/programs.hpp"
#include "models/collectives/traffic.hpp"
#include "models/values/value_executor.hpp"

namespace equarx::plan {
namespace {

OrInfeasible<CollectivePlan> plan_on_grid(config::CollectiveConfig config,
                                          const collectives::RankGrid& grid,
                                          MachineContext& context, const std::string& pointer) {
  const config::ExperimentConfig& experiment = context.config();
  if (auto infeasible = check_machine_memory(config.algorithm, grid, experiment))
    return *infeasible;
  CutChoice cuts = choose_cuts(config, grid, experiment);
  config.sizes = cuts.sizes;
  if (auto infeasible = check_program_size(config, grid, experiment, pointer)) return *infeasible;
  collectives::Program program = make_program(config, grid, experiment);
  if (auto infeasible = check_vmem(program, experiment, pointer)) return *infeasible;
  if (auto infeasible = check_hbm_bandwidth(program, experiment)) return *infeasible;
  sim::Costs costs = program_costs(program, experiment.chip, experiment.wire_buffers);
  OrInfeasible<SimulatedMachine> machine = plan_machine(config.algorithm, program, context);
  if (const auto* infeasible = std::get_if<Infeasible>(&machine)) return *infeasible;
  return CollectivePlan{std::move(config),
                        std::move(program),
                        std::move(costs),
                        std::get<SimulatedMachine>(std::move(machine)),
                        {},
                        std::move(cuts.reason)};
}

OrInfeasible<CollectivePlan> plan_collective(const config::CollectiveConfig& config,
                                             MachineContext& context, const std::string& pointer) {
  const OrInfeasible<collectives::RankGrid> grid =
      rank_grid(config.algorithm, context.config(), input::pointer(pointer, "algorithm"));
  if (const auto* infeasible = std::get_if<Infeasible>(&grid)) return *infeasible;
  const std::uint32_t ranks = std::get<collectives::RankGrid>(grid).ranks();
  if (ranks > numerics::most_ranks(config.format))
    return Infeasible{
        input::pointer(pointer, "format"),
        fmt::format("sums of '{}' codes of {} ranks overflow an int8; it supports up to {} ranks",
                    config.format.name, ranks, numerics::most_ranks(config.format))};
  try {
    return plan_on_grid(config, std::get<collectives::RankGrid>(grid), context, pointer);
  } catch (const std::invalid_argument& error) {  // from lower layers, which have no JSON pointers
    return Infeasible{pointer, error.what()};
  }
}

/// Plans an algorithm as one of several candidates; skipped if its simulation would take too long.
OrInfeasible<CollectivePlan> plan_trial(const config::CollectiveConfig& candidate,
                                        MachineContext& context, const std::string& pointer) {
  const OrInfeasible<double> time_s = simulation_time_s(candidate, context.config(), pointer);
  if (const auto* infeasible = std::get_if<Infeasible>(&time_s)) return *infeasible;
  if (std::get<double>(time_s) > kMostTrialTime)
    return Infeasible{"", fmt::format("skipped: simulating it would take about {:.0f} s; "
                                      "name it to run it",
                                      std::get<double>(time_s))};
  return plan_collective(candidate, context, pointer);
}

/// Plans every algorithm that can run with this format; infeasible if none can.
OrInfeasible<PlannedCollective> plan_candidates(const config::CollectiveConfig& config,
                                                MachineContext& context,
                                                const std::string& pointer) {
  PlannedCollective planned;
  const collectives::Collective collective = context.config().collective;
  const bool with_network = context.config().topology.network.has_value();
  for (const config::Algorithm algorithm : config::tried_algorithms(collective, with_network)) {
    if (!config::fits_format(algorithm, collective, config.format)) continue;
    const std::string why = why_not(algorithm, context.config());
    if (!why.empty()) {
      planned.infeasible.push_back({algorithm, why});
      continue;
    }
    config::CollectiveConfig candidate = config;
    candidate.algorithm = algorithm;
    OrInfeasible<CollectivePlan> plan = plan_trial(candidate, context, pointer);
    if (const auto* infeasible = std::get_if<Infeasible>(&plan))
      planned.infeasible.push_back({algorithm, infeasible->text()});
    else
      planned.candidates.push_back(std::get<CollectivePlan>(std::move(plan)));
  }
  if (planned.candidates.empty())
    return Infeasible{input::pointer(pointer, "algorithm"),
                      planned.infeasible.empty()
                          ? "no algorithm can run with this format"
                          : "no algorithm can run: " + planned.infeasible.front().reason};
  std::ranges::stable_sort(planned.candidates, {}, [](const CollectivePlan& plan) {
    return sim::lower_bound_s(plan.program, plan.simulated.machine, plan.costs);
  });
  return planned;
}

/// Plans the candidates of one collective. Stores the tiling in `collective`, so that it stays the
/// same on other chips.
OrInfeasible<PlannedCollective> plan_alternatives(config::CollectiveConfig& collective,
                                                  MachineContext& context,
                                                  const std::string& pointer) {
  if (collective.algorithm == config::kAutomatic)
    return plan_candidates(collective, context, pointer);
  OrInfeasible<CollectivePlan> plan = plan_collective(collective, context, pointer);
  if (const auto* infeasible = std::get_if<Infeasible>(&plan)) return *infeasible;
  collective.sizes = std::get<CollectivePlan>(plan).config.sizes;
  PlannedCollective planned;
  planned.candidates.push_back(std::get<CollectivePlan>(std::move(plan)));
  return planned;
}

/// Chooses the engine of an otherwise complete plan.
MaybeInfeasible plan_engine(const config::ExperimentConfig& config, RunProfile profile,
                            CollectivePlan& plan) {
  const sim::Machine& machine = plan.simulated.machine;
  const auto messages =
      static_cast<double>(collectives::total_messages(plan.program, machine.ranks()));
  const double simgrid_s = estimate_simulation_s(plan.config, plan.program.grid(), config,
                                                 sim::Engine::simgrid, messages);
  OrInfeasible<EngineChoice> choice = choose_engine(config.engine, machine, simgrid_s, profile);
  if (const auto* infeasible = std::get_if<Infeasible>(&choice)) return *infeasible;
  plan.engine = std::get<EngineChoice>(std::move(choice));
  return std::nullopt;
}

}  // namespace

OrInfeasible<double> simulation_time_s(const config::CollectiveConfig& collective,
                                       const config::ExperimentConfig& config,
                                       const std::string& pointer) {
  if (has_representatives(collective.algorithm, config)) return 0.0;
  const OrInfeasible<collectives::RankGrid> grid =
      rank_grid(collective.algorithm, config, input::pointer(pointer, "algorithm"));
  if (const auto* infeasible = std::get_if<Infeasible>(&grid)) return *infeasible;
  const auto& ranks = std::get<collectives::RankGrid>(grid);
  const sim::Engine engine =
      config.engine == config::EngineMode::simgrid ? sim::Engine::simgrid : sim::Engine::direct;
  return estimate_simulation_s(collective, ranks, config, engine,
                               ranks.ranks() * estimate_messages(collective, ranks, config));
}

OrInfeasible<Plan> try_plan(const config::ExperimentConfig& config, RunProfile profile) {
  if (auto infeasible = check_hbm_capacity(config)) return *infeasible;
  Plan plan{config, {}};
  MachineContext context(plan.config);
  for (std::size_t i = 0; i < config.collectives.size(); ++i) {
    OrInfeasible<PlannedCollective> planned =
        plan_alternatives(plan.config.collectives[i], context, input::pointer("/collectives", i));
    if (const auto* infeasible = std::get_if<Infeasible>(&planned)) return *infeasible;
    plan.collectives.push_back(std::get<PlannedCollective>(std::move(planned)));
  }
  for (PlannedCollective& collective : plan.collectives)
    for (CollectivePlan& candidate : collective.candidates) {
      if (auto infeasible =
              check_host_memory(candidate.program, plan.config, values::default_threads()))
        return *infeasible;
      if (auto infeasible = plan_engine(plan.config, profile, candidate)) return *infeasible;
    }
  return plan;
}

Plan make_plan(const config::ExperimentConfig& config, RunProfile profile) {
  return value_or_throw(try_plan(config, profile));
}

Plan on_machine(Plan plan, const config::MachineParameters& machine) {
  config::set_parameters(machine, plan.config);
  MachineContext context(plan.config);
  for (PlannedCollective& collective : plan.collectives)
    for (CollectivePlan& candidate : collective.candidates) {
      candidate.costs = program_costs(candidate.program, machine.chip, plan.config.wire_buffers);
      candidate.simulated =
          value_or_throw(plan_machine(candidate.config.algorithm, candidate.program, context));
    }
  return plan;
}

}  // namespace equarx::plan
