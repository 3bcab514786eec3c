// Whether a model that is trained fits into the memory of its chips.
#pragma once

#include <optional>
#include <string>

#include "experiments/config/step.hpp"
#include "models/steps/training_memory.hpp"

namespace equarx::step {

/// The parts with their sizes, for people: "weights 1.5 GiB, gradients …".
std::string parts_text(const steps::TrainingMemory& memory);

/// Of each chip; none if the step trains no model.
std::optional<steps::TrainingMemory> memory_of(const config::StepConfig& config);

/// @throws input::InputError if a chip has less memory than training or serving needs: how much, of what, and which
/// setting would need less
void check_memory(const config::StepConfig& config);

}  // namespace equarx::step
