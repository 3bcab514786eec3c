#include "experiments/plan.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "experiments/algorithms.hpp"
#include "experiments/costs.hpp"
#include "experiments/input_error.hpp"
#include "experiments/plan_checks.hpp"
#include "models/collectives/traffic.hpp"

namespace equarx::experiments {
namespace {

CollectivePlan plan_collective(const CollectiveConfig& config, Site& site,
                               const std::string& place) {
  const ExperimentConfig& experiment = site.config();
  const collectives::RankGrid grid = rank_grid(config.algorithm, experiment, place + "/algorithm");
  try {
    check_program_size(config, grid, experiment, place);
    check_machine_memory(config.algorithm, grid, experiment);
    collectives::Program program = make_program(config, grid, experiment);
    check_vmem(program, experiment.chip, place);
    check_hbm_bandwidth(program, experiment);
    sim::Costs costs = program_costs(program, experiment.chip);
    SimulatedMachine simulated = plan_machine(config.algorithm, program, site);
    return {config, std::move(program), std::move(costs), std::move(simulated)};
  } catch (const std::invalid_argument& error) {
    throw InputError(place, error.what());
  }
}

/// Shows the cut that was chosen, where all chunks have the same one.
void fill_in_cut(const CollectivePlan& plan, CollectiveConfig& config) {
  const collectives::Partition& partition = plan.program.partition;
  const collectives::Cut first = partition.cut(0);
  for (std::uint32_t segment = 0; segment < partition.segments(); ++segment)
    for (const collectives::Cut& cut : partition.segment(segment).cuts)
      if (cut != first) return;
  config.minishards = first.minishards;
  config.microshards = first.microshards;
}

/// About how long a simulation takes on this computer. Where messages of many chips share links, SimGrid
/// divides them among all that are under way again at every start and end of one.
double simulation_time_s(const CollectivePlan& plan) {
  constexpr double kPerMessage = 4e-6;
  constexpr double kPerSharer = 1e-7;
  const sim::Machine& machine = plan.simulated.machine;
  const auto messages =
      static_cast<double>(collectives::total_messages(plan.program, machine.ranks()));
  const bool alone = std::ranges::all_of(machine.ways, [](const std::vector<sim::Way>& ways) {
    return std::ranges::all_of(ways, [](const sim::Way& way) { return way.route.size() == 1; });
  });
  if (alone) return messages * kPerMessage;
  const double under_way = machine.ranks() * static_cast<double>(plan.program.channels.size());
  return messages * (kPerMessage + kPerSharer * std::min(under_way, messages));
}

/// Every algorithm that can run with this format here.
PlannedCollective plan_candidates(const CollectiveConfig& config, Site& site,
                                  const std::string& place) {
  constexpr double kMostTime = 10.0;  // seconds; more is for those who ask for it by name
  PlannedCollective planned;
  for (const Algorithm algorithm : algorithms_of(site.config().collective)) {
    if (algorithm == Algorithm::automatic) continue;
    const bool fits = config.format.scaled ? can_be_quantized(site.config().collective, algorithm)
                                           : can_be_plain(algorithm);
    if (!fits) continue;
    const std::string obstacle = why_not(algorithm, site.config());
    if (!obstacle.empty()) {
      planned.unsuited.push_back({algorithm, obstacle});
      continue;
    }
    CollectiveConfig candidate = config;
    candidate.algorithm = algorithm;
    try {
      planned.candidates.push_back(plan_collective(candidate, site, place));
    } catch (const InputError& error) {
      planned.unsuited.push_back({algorithm, error.what()});
      continue;
    }
    const double time_s = simulation_time_s(planned.candidates.back());
    if (time_s <= kMostTime) continue;
    planned.unsuited.push_back(
        {algorithm,
         fmt::format("not tried: simulating it would take about {:.0f} s; name it to run it",
                     time_s)});
    planned.candidates.pop_back();
  }
  if (planned.candidates.empty())
    throw InputError(place + "/algorithm",
                     planned.unsuited.empty()
                         ? "no algorithm can run with this format"
                         : "no algorithm can run: " + planned.unsuited.front().reason);
  std::ranges::stable_sort(planned.candidates, {}, [](const CollectivePlan& plan) {
    return sim::lower_bound_s(plan.program, plan.simulated.machine);
  });
  return planned;
}

}  // namespace

Plan make_plan(const ExperimentConfig& config) {
  check_hbm_capacity(config);
  Plan plan{config, {}, {}};
  if (config.workload) plan.workload = plan_workload(config);
  Site site(plan.config);
  for (std::size_t i = 0; i < config.collectives.size(); ++i) {
    const std::string place = fmt::format("/collectives/{}", i);
    CollectiveConfig& collective = plan.config.collectives[i];
    if (collective.algorithm == Algorithm::automatic) {
      plan.collectives.push_back(plan_candidates(collective, site, place));
      continue;
    }
    plan.collectives.push_back({{plan_collective(collective, site, place)}, {}});
    fill_in_cut(plan.collectives.back().candidates.front(), collective);
  }
  for (const PlannedCollective& collective : plan.collectives)
    for (const CollectivePlan& candidate : collective.candidates)
      check_host_memory(candidate.program, plan.config);
  return plan;
}

}  // namespace equarx::experiments
