#include "experiments/step/group.hpp"

#include "experiments/plan/placement.hpp"

namespace equarx::step {

config::ExperimentConfig group_experiment(const config::StepConfig& config,
                                          const config::StepCall& call,
                                          const config::CollectiveConfig& collective) {
  config::ExperimentConfig experiment = config.machine;
  experiment.topology = config::group_topology(config.machine.topology, config.mesh.machine,
                                               config.mesh.machine_axes(call.call.axes));
  experiment.faults = {};  // of the whole machine
  experiment.simulation = config::SimulationMode::automatic;
  experiment.collective = call.call.collective;
  experiment.tensor.elements = call.call.elements;
  experiment.tensor.dtype = call.call.dtype;
  experiment.collectives = {collective};
  experiment.numerics = false;
  return experiment;
}

std::vector<topology::ChipId> places_in_group(const config::StepConfig& config,
                                              const std::vector<std::size_t>& axes,
                                              const plan::CollectivePlan& plan) {
  config::ExperimentConfig experiment = config.machine;
  experiment.topology = config::group_topology(config.machine.topology, config.mesh.machine, axes);
  plan::Site site(experiment);
  if (const auto obstacle = site.prepare(plan.config.algorithm)) throw obstacle->error();
  return plan::place_ranks(plan.config.algorithm, plan.program.grid(), site);
}

}  // namespace equarx::step
