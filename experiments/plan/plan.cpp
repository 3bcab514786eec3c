#include "experiments/plan/plan.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "experiments/input/errors.hpp"
#include "experiments/plan/checks.hpp"
#include "experiments/plan/costs.hpp"
#include "experiments/plan/estimates.hpp"
#include "experiments/plan/programs.hpp"

namespace equarx::plan {
namespace {

CollectivePlan plan_collective(const config::CollectiveConfig& config, Site& site,
                               const std::string& place) {
  const config::ExperimentConfig& experiment = site.config();
  const collectives::RankGrid grid = rank_grid(config.algorithm, experiment, place + "/algorithm");
  try {
    check_machine_memory(config.algorithm, grid, experiment);
    check_program_size(config, grid, experiment, place);
    collectives::Program program = make_program(config, grid, experiment);
    check_vmem(program, experiment.chip, place);
    check_hbm_bandwidth(program, experiment);
    sim::Costs costs = program_costs(program, experiment.chip);
    SimulatedMachine simulated = plan_machine(config.algorithm, program, site);
    return {config, std::move(program), std::move(costs), std::move(simulated)};
  } catch (const std::invalid_argument& error) {
    throw input::InputError(place, error.what());
  }
}

/// Shows the cut that was chosen, where all chunks have the same one.
void fill_in_cut(const CollectivePlan& plan, config::CollectiveConfig& config) {
  const collectives::Partition& partition = plan.program.partition;
  const collectives::Cut first = partition.cut(0);
  for (std::uint32_t segment = 0; segment < partition.segments(); ++segment)
    for (const collectives::Cut& cut : partition.segment(segment).cuts)
      if (cut != first) return;
  config.minishards = first.minishards;
  config.microshards = first.microshards;
}

/// Every algorithm that can run with this format here.
PlannedCollective plan_candidates(const config::CollectiveConfig& config, Site& site,
                                  const std::string& place) {
  PlannedCollective planned;
  for (const config::Algorithm algorithm : config::algorithms_of(site.config().collective)) {
    const bool fits = config.format.scaled
                          ? config::can_be_quantized(site.config().collective, algorithm)
                          : config::can_be_plain(algorithm);
    if (!fits) continue;
    const std::string obstacle = why_not(algorithm, site.config());
    if (!obstacle.empty()) {
      planned.unsuited.push_back({algorithm, obstacle});
      continue;
    }
    config::CollectiveConfig candidate = config;
    candidate.algorithm = algorithm;
    try {
      const double time_s = simulation_time_s(candidate, site.config(), place);
      if (time_s > kMostTrialTime)
        throw input::InputError("",
                                fmt::format("not tried: simulating it would take about {:.0f} s; "
                                            "name it to run it",
                                            time_s));
      planned.candidates.push_back(plan_collective(candidate, site, place));
    } catch (const input::InputError& error) {
      planned.unsuited.push_back({algorithm, error.what()});
    }
  }
  if (planned.candidates.empty())
    throw input::InputError(place + "/algorithm",
                            planned.unsuited.empty()
                                ? "no algorithm can run with this format"
                                : "no algorithm can run: " + planned.unsuited.front().reason);
  std::ranges::stable_sort(planned.candidates, {}, [](const CollectivePlan& plan) {
    return sim::lower_bound_s(plan.program, plan.simulated.machine);
  });
  return planned;
}

}  // namespace

double simulation_time_s(const config::CollectiveConfig& collective,
                         const config::ExperimentConfig& config, const std::string& place) {
  if (has_representatives(collective.algorithm, config)) return 0.0;
  return estimate_simulation_s(
      collective, rank_grid(collective.algorithm, config, place + "/algorithm"), config);
}

Plan make_plan(const config::ExperimentConfig& config) {
  check_hbm_capacity(config);
  Plan plan{config, {}, {}};
  if (config.workload) plan.workload = plan_workload(config);
  Site site(plan.config);
  for (std::size_t i = 0; i < config.collectives.size(); ++i) {
    const std::string place = fmt::format("/collectives/{}", i);
    config::CollectiveConfig& collective = plan.config.collectives[i];
    if (collective.algorithm == config::kAutomatic) {
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

}  // namespace equarx::plan
