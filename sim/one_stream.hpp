// Steps whose tasks follow each other, simulated with one stream per chip.
#pragma once

#include <optional>

#include "sim/step_program.hpp"
#include "sim/time_executor.hpp"

namespace equarx::sim {

/// Returns the same tasks on a single stream if each follows the one before it on every chip, so that no
/// two streams of a chip are ever active at a time; std::nullopt otherwise, and for a single stream.
std::optional<StepProgram> in_one_stream(const StepProgram& work);

/// Simulates a step. On dedicated links, the direct engine runs tasks that follow each other on one
/// stream, in closed form; the result is the same.
TimeResult simulate(const StepProgram& work, const Machine& machine, const Describe& describe,
                    const SimulationOptions& options);

}  // namespace equarx::sim
