// From a topology and a program to the machine that is simulated.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/config.hpp"
#include "experiments/topology_plan.hpp"
#include "models/collectives/program.hpp"
#include "sim/machine.hpp"

namespace equarx::experiments {

/// The chips of a configuration and a ring through them, each made when it is first needed: a pod that
/// representatives stand for is never enumerated.
class Site {
 public:
  explicit Site(const ExperimentConfig& config) : config_(config) {}

  const ExperimentConfig& config() const { return config_; }
  const PlannedTopology& topology();
  const std::vector<topology::ChipId>& ring();

 private:
  const ExperimentConfig& config_;
  std::optional<PlannedTopology> topology_;
  std::optional<std::vector<topology::ChipId>> ring_;
};

/// What is simulated, and why.
struct SimulatedMachine {
  sim::Machine machine;
  bool symmetric = false;  ///< a few chips stand for all of them
  std::string reason;      ///< for people: "all chips are alike"
};

/// Whether representatives are simulated, as can be seen without looking at any chip.
/// @throws InputError if the algorithm needs a ring, and there is none.
bool has_representatives(Algorithm algorithm, const ExperimentConfig& config);

/// Whether this computer can hold the machine, before any of it or its program is made.
/// @throws InputError if all chips would be simulated, and need more memory than it has.
void check_machine_memory(Algorithm algorithm, const collectives::RankGrid& grid,
                          const ExperimentConfig& config);

/// Representatives if they have the timing of all chips and the configuration does not ask for all.
/// @throws InputError if it asks for representatives and there are none.
SimulatedMachine plan_machine(Algorithm algorithm, const collectives::Program& program, Site& site);

}  // namespace equarx::experiments
