// From what the user asks for to what the executors run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/plan/engine.hpp"
#include "experiments/plan/machine.hpp"
#include "experiments/plan/workload.hpp"
#include "models/collectives/program.hpp"
#include "sim/timeline.hpp"

namespace equarx::plan {

/// One collective, ready to run.
struct CollectivePlan {
  config::CollectiveConfig config;  ///< with an algorithm that is not `automatic`
  collectives::Program program;
  sim::Costs costs;
  SimulatedMachine simulated;
  EngineChoice engine;
  std::string cut_reason;  ///< for people: how minishards and microshards were chosen
};

/// An algorithm that `automatic` does not try.
struct Unsuited {
  config::Algorithm algorithm = nullptr;
  std::string reason;
};

/// The ways of one collective of the configuration: one, or those that `automatic` chooses among.
struct PlannedCollective {
  std::vector<CollectivePlan> candidates;  ///< at least one; by rising lower bound
  std::vector<Unsuited> unsuited;
};

/// All that an experiment computes, before any of it is computed.
struct Plan {
  config::ExperimentConfig config;  ///< with every default filled in
  std::vector<PlannedCollective> collectives;
  std::optional<WorkloadPlan> workload;
};

/// What tries ways out simulates none that takes longer, in seconds: that is for those who ask for it by name.
inline constexpr double kMostTrialTime = 10.0;

/// About how long simulating the collective takes on this computer, in seconds, with the engine that would be
/// taken if it is long; 0 if representatives do.
/// `pointer`: its JSON pointer. An obstacle if the algorithm cannot run here.
OrObstacle<double> simulation_time_s(const config::CollectiveConfig& collective,
                                     const config::ExperimentConfig& config,
                                     const std::string& pointer);

/// Builds machines and programs, and checks that the tensor fits the chips and this computer. An obstacle if
/// it does not, or if a collective cannot run. @throws InputError if a workload does not fit the chips.
OrObstacle<Plan> try_plan(const config::ExperimentConfig& config, Look look = Look::at_it);

/// try_plan() for who has no other way. @throws InputError
Plan make_plan(const config::ExperimentConfig& config, Look look = Look::at_it);

/// The same programs on another chip: costs, links and the workload's operations are made anew, and what was
/// checked before is not checked again. @throws InputError if a workload does not fit that chip
Plan on_chip(Plan plan, const hardware::Chip& chip);

}  // namespace equarx::plan
