#include "experiments/step/group.hpp"

#include <algorithm>

namespace equarx::step {

config::ExperimentConfig group_experiment(const config::StepConfig& config,
                                          const config::StepCall& call,
                                          const config::CollectiveConfig& collective) {
  config::ExperimentConfig experiment = config.machine;
  experiment.topology = config::group_topology(config.machine.topology, config.mesh, call.call,
                                               config.graph.chip_lists);
  experiment.faults = {};  // faults refer to the whole machine
  experiment.simulation = config::SimulationMode::automatic;
  experiment.collective = call.call.collective;
  const auto index = std::ranges::find(config.calls, call) - config.calls.begin();
  const auto at = static_cast<std::size_t>(index);
  if (at < config.values.size() && config.values[at]) experiment.tensor = *config.values[at];
  experiment.tensor.elements = call.call.elements;
  experiment.tensor.dtype = call.call.dtype;
  experiment.collectives = {collective};
  experiment.numerics = false;
  experiment.of_step = true;
  return experiment;
}

}  // namespace equarx::step
