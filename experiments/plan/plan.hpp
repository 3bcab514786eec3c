// Turns a configuration into executable plans.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/config/machine_parameters.hpp"
#include "experiments/plan/costs.hpp"
#include "experiments/plan/engine.hpp"
#include "experiments/plan/machine.hpp"
#include "models/collectives/program.hpp"
#include "sim/timeline.hpp"

namespace equarx::plan {

/// One collective, ready to run.
struct CollectivePlan {
  config::CollectiveConfig config;  ///< with a concrete algorithm
  collectives::Program program;
  sim::Costs costs;
  SimulatedMachine simulated;
  EngineChoice engine;
  std::string cut_reason;  ///< for people: how the tiling was chosen
  /// For costs and work; null if these are computed from the program.
  std::shared_ptr<const CostKinds> kinds = nullptr;
};

/// An algorithm that `automatic` does not try.
struct InfeasibleAlgorithm {
  config::Algorithm algorithm = nullptr;
  std::string reason;
};

/// Candidates for one collective of the configuration: one, or all that `automatic` chooses from.
struct PlannedCollective {
  std::vector<CollectivePlan> candidates;  ///< at least one; by increasing lower bound
  std::vector<InfeasibleAlgorithm> infeasible;
};

/// Everything that an experiment runs, before any of it has run.
struct Plan {
  config::ExperimentConfig config;  ///< with all defaults filled in
  std::vector<PlannedCollective> collectives;
};

/// Search skips candidates whose simulation would take longer (in seconds); they run only by
/// explicit request.
inline constexpr double kMostTrialTime = 10.0;

/// Estimates how long simulating the collective takes on this computer, in seconds, with the engine
/// used for long simulations; 0 if representative chips suffice. `pointer`: JSON pointer of the
/// collective. Infeasible if the algorithm cannot run here.
Expected<double> simulation_time_s(const config::CollectiveConfig& collective,
                                   const config::ExperimentConfig& config,
                                   const std::string& pointer);

/// Builds machines and programs, and checks that the tensor fits the chips and this computer.
/// Infeasible if it does not, or if a collective cannot run.
Expected<Plan> try_plan(const config::ExperimentConfig& config,
                        RunProfile profile = RunProfile::single);

/// Like try_plan(), but throws. @throws InputError
Plan make_plan(const config::ExperimentConfig& config, RunProfile profile = RunProfile::single);

/// Returns a chip as a collective sees it under its protocol, which must be concrete.
hardware::Chip chip_of(const config::CollectiveConfig& collective, const hardware::Chip& chip);

/// Returns the same programs on a machine with other parameters: costs and links are recomputed;
/// earlier checks are not repeated.
Plan on_machine(Plan plan, const config::MachineParameters& machine);

}  // namespace equarx::plan
