// Simulation of one program in all its groups, on an otherwise idle machine.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/step/placement.hpp"
#include "sim/time_executor.hpp"
#include "sim/timeline.hpp"

namespace equarx::step {

/// Simulates a program on all chips that it runs on. Of parts of the machine that do not influence
/// each other and are alike, one is simulated: its time and core times stand for all.
/// @throws input::InputError as machine_of_all()
sim::TimeResult simulate_isolated(const config::ExperimentConfig& machine_config,
                                  const collectives::Program& program, const sim::Costs& costs,
                                  const Placement& placement);

}  // namespace equarx::step
