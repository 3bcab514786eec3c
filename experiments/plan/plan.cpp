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

/// Costs of a collective of the experiment; of a whole program, its startup too.
sim::Costs costs_of(const collectives::Program& program, const config::ExperimentConfig& config) {
  sim::Costs costs = program_costs(program, config.chip, config.wire_buffers);
  if (config.timed_as == config::TimedAs::program)
    costs.start_s += config.chip.program_startup.value;
  return costs;
}

Expected<CollectivePlan> plan_on_grid(config::CollectiveConfig config,
                                      const collectives::RankGrid& grid, MachineContext& context,
                                      const std::string& pointer) {
  const config::ExperimentConfig& experiment = context.config();
  if (auto fits = check_machine_memory(config.algorithm, grid, experiment); !fits)
    return tl::unexpected(fits.error());
  CutChoice cuts = choose_cuts(config, grid, experiment);
  config.sizes = cuts.sizes;
  if (auto fits = check_program_size(config, grid, experiment, pointer); !fits)
    return tl::unexpected(fits.error());
  collectives::Program program = make_program(config, grid, experiment);
  return check_vmem(program, experiment, pointer)
      .and_then([&] { return check_hbm_bandwidth(program, experiment); })
      .and_then([&] { return plan_machine(config.algorithm, program, context); })
      .map([&](SimulatedMachine&& machine) {
        sim::Costs costs = costs_of(program, experiment);
        return CollectivePlan{
            std::move(config),     std::move(program), std::move(costs), std::move(machine), {},
            std::move(cuts.reason)};
      });
}

Expected<CollectivePlan> plan_with_chip(const config::CollectiveConfig& config,
                                        MachineContext& context, const std::string& pointer) {
  const Expected<collectives::RankGrid> grid =
      rank_grid(config.algorithm, context.config(), input::pointer(pointer, "algorithm"));
  if (!grid) return tl::unexpected(grid.error());
  const std::uint32_t ranks = grid->ranks();
  if (ranks > numerics::most_ranks(config.format))
    return infeasible(
        input::pointer(pointer, "format"),
        fmt::format("sums of '{}' codes of {} ranks overflow an int8; it supports up to {} ranks",
                    config.format.name, ranks, numerics::most_ranks(config.format)));
  try {
    return plan_on_grid(config, *grid, context, pointer);
  } catch (const std::invalid_argument& error) {  // from lower layers, which have no JSON pointers
    return infeasible(pointer, error.what());
  }
}

bool in_switch(const config::CollectiveConfig& config) { return config.algorithm->in_switch; }

/// The experiment on chips as the collective sees them under its protocol.
config::ExperimentConfig under_protocol(config::ExperimentConfig experiment,
                                        const config::CollectiveConfig& config) {
  experiment.chip =
      hardware::under_protocol(std::move(experiment.chip), *config.protocol, in_switch(config));
  experiment.topology.planned = nullptr;
  return experiment;
}

Expected<CollectivePlan> plan_collective(const config::CollectiveConfig& config,
                                         MachineContext& context, const std::string& pointer) {
  if (config.protocol == hardware::Protocol::none) return plan_with_chip(config, context, pointer);
  const std::string at = input::pointer(pointer, "protocol");
  if (context.config().of_step)
    return infeasible(at, "is for collectives of their own, not for those of steps; remove it");
  const hardware::Chip& chip = context.config().chip;
  if (!hardware::has_protocol(chip, *config.protocol, in_switch(config)))
    return infeasible(
        at, fmt::format("'{}' is unknown for '{}' on {}: its hardware file lacks the parameters; "
                        "remove it",
                        hardware::name(*config.protocol), config.algorithm->name, chip.name));
  const config::ExperimentConfig experiment = under_protocol(context.config(), config);
  MachineContext own(experiment);
  const bool whole_steps = !config.microshards && !in_switch(config);
  config::CollectiveConfig in_steps = config;
  if (whole_steps) in_steps.microshards = 1;
  return plan_with_chip(in_steps, own, pointer).map([&](CollectivePlan&& plan) {
    if (whole_steps) plan.cut_reason = "one message per step, to which NCCL's latencies refer";
    return std::move(plan);
  });
}

/// The protocols to try for an algorithm: the given one, or all that the chip has.
std::vector<hardware::Protocol> protocols_of(const config::CollectiveConfig& config,
                                             const hardware::Chip& chip) {
  using hardware::Protocol;
  if (config.protocol) return {*config.protocol};
  std::vector<Protocol> protocols;
  for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple})
    if (hardware::has_protocol(chip, protocol, in_switch(config))) protocols.push_back(protocol);
  return protocols;
}

/// Plans an algorithm as one of several candidates; skipped if its simulation would take too long.
Expected<CollectivePlan> plan_trial(const config::CollectiveConfig& candidate,
                                    MachineContext& context, const std::string& pointer) {
  const Expected<double> time_s = simulation_time_s(candidate, context.config(), pointer);
  if (!time_s) return tl::unexpected(time_s.error());
  if (*time_s > kMostTrialTime)
    return infeasible("", fmt::format("skipped: simulating it would take about {:.0f} s; "
                                      "name it to run it",
                                      *time_s));
  return plan_collective(candidate, context, pointer);
}

/// Plans an algorithm with all its protocols.
void add_candidates(config::CollectiveConfig candidate, MachineContext& context,
                    const std::string& pointer, PlannedCollective& planned) {
  const auto protocols = protocols_of(candidate, context.config().chip);
  if (protocols.empty())
    planned.infeasible.push_back({candidate.algorithm, fmt::format("{} has no protocols for it",
                                                                   context.config().chip.name)});
  for (const hardware::Protocol protocol : protocols) {
    candidate.protocol = protocol;
    Expected<CollectivePlan> plan = plan_trial(candidate, context, pointer);
    if (plan)
      planned.candidates.push_back(*std::move(plan));
    else
      planned.infeasible.push_back({candidate.algorithm, plan.error().text()});
  }
}

/// Plans every algorithm that can run with this format; infeasible if none can.
Expected<PlannedCollective> plan_candidates(const config::CollectiveConfig& config,
                                            MachineContext& context, const std::string& pointer) {
  PlannedCollective planned;
  const collectives::Collective collective = context.config().collective;
  const bool with_network = context.config().topology.network.has_value();
  std::vector<config::Algorithm> tried = config.algorithm == config::kAutomatic
                                             ? config::tried_algorithms(collective, with_network)
                                             : std::vector<config::Algorithm>{config.algorithm};
  if (config.protocol != hardware::Protocol::none && tried.size() > 1)
    std::erase_if(tried, [&](config::Algorithm algorithm) {
      return std::ranges::find(algorithm->of_nccl, collective) == algorithm->of_nccl.end();
    });
  for (const config::Algorithm algorithm : tried) {
    if (tried.size() > 1 && !is_considered(algorithm, context.config().topology)) continue;
    if (!config::fits_format(algorithm, collective, config.format)) continue;
    const std::string why = why_not(algorithm, context.config());
    if (!why.empty()) {
      planned.infeasible.push_back({algorithm, why});
      continue;
    }
    config::CollectiveConfig candidate = config;
    candidate.algorithm = algorithm;
    add_candidates(std::move(candidate), context, pointer, planned);
  }
  if (planned.candidates.empty())
    return infeasible(input::pointer(pointer, "algorithm"),
                      planned.infeasible.empty()
                          ? "no algorithm can run with this format"
                          : "no algorithm can run: " + planned.infeasible.front().reason);
  std::ranges::stable_sort(planned.candidates, {}, [](const CollectivePlan& plan) {
    return sim::lower_bound_s(plan.program, plan.simulated.machine, plan.costs);
  });
  return planned;
}

/// Plans the candidates of one collective. Stores the tiling in `collective`, so that it stays the
/// same on other chips.
Expected<PlannedCollective> plan_alternatives(config::CollectiveConfig& collective,
                                              MachineContext& context, const std::string& pointer) {
  if (collective.algorithm == config::kAutomatic || !collective.protocol)
    return plan_candidates(collective, context, pointer);
  return plan_collective(collective, context, pointer).map([&](CollectivePlan&& plan) {
    collective.sizes = plan.config.sizes;
    PlannedCollective planned;
    planned.candidates.push_back(std::move(plan));
    return planned;
  });
}

/// Chooses the engine of an otherwise complete plan.
Expected<void> plan_engine(const config::ExperimentConfig& config, RunProfile profile,
                           CollectivePlan& plan) {
  const sim::Machine& machine = plan.simulated.machine;
  const auto messages =
      static_cast<double>(collectives::total_messages(plan.program, machine.ranks()));
  const double simgrid_s = estimate_simulation_s(plan.config, plan.program.grid(), config,
                                                 sim::Engine::simgrid, messages);
  return choose_engine(config.engine, machine, simgrid_s, profile).map([&](EngineChoice&& choice) {
    plan.engine = std::move(choice);
  });
}

/// Recomputes the costs and the machine of a plan.
void replan(CollectivePlan& plan, MachineContext& context) {
  const config::ExperimentConfig& config = context.config();
  plan.costs = costs_of(plan.program, config);
  plan.simulated = value_or_throw(plan_machine(plan.config.algorithm, plan.program, context));
}

}  // namespace

Expected<double> simulation_time_s(const config::CollectiveConfig& collective,
                                   const config::ExperimentConfig& config,
                                   const std::string& pointer) {
  if (has_representatives(collective.algorithm, config)) return 0.0;
  const sim::Engine engine =
      config.engine == config::EngineMode::simgrid ? sim::Engine::simgrid : sim::Engine::direct;
  return rank_grid(collective.algorithm, config, input::pointer(pointer, "algorithm"))
      .map([&](const collectives::RankGrid& grid) {
        const double messages = grid.ranks() * estimate_messages(collective, grid, config);
        return estimate_simulation_s(collective, grid, config, engine, messages);
      });
}

Expected<Plan> try_plan(const config::ExperimentConfig& config, RunProfile profile) {
  if (auto fits = check_hbm_capacity(config); !fits) return tl::unexpected(fits.error());
  Plan plan{config, {}};
  MachineContext context(plan.config);
  for (std::size_t i = 0; i < config.collectives.size(); ++i) {
    Expected<PlannedCollective> planned =
        plan_alternatives(plan.config.collectives[i], context, input::pointer("/collectives", i));
    if (!planned) return tl::unexpected(planned.error());
    plan.collectives.push_back(*std::move(planned));
  }
  for (PlannedCollective& collective : plan.collectives)
    for (CollectivePlan& candidate : collective.candidates) {
      const Expected<void> planned =
          check_host_memory(candidate.program, plan.config, values::default_threads())
              .and_then([&] { return plan_engine(plan.config, profile, candidate); });
      if (!planned) return tl::unexpected(planned.error());
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
      if (candidate.config.protocol == hardware::Protocol::none) {
        replan(candidate, context);
        continue;
      }
      const config::ExperimentConfig experiment = under_protocol(plan.config, candidate.config);
      MachineContext own(experiment);
      replan(candidate, own);
    }
  return plan;
}

}  // namespace equarx::plan
