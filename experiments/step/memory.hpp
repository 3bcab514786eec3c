// Memory check of training and serving.
#pragma once

#include <optional>
#include <string>

#include "experiments/config/step.hpp"
#include "models/steps/training_memory.hpp"

namespace equarx::step {

/// Sizes of the parts for messages: "weights 1.5 GiB, gradients …".
std::string parts_text(const steps::TrainingMemory& memory);

/// Memory per chip; std::nullopt if the step trains no model.
std::optional<steps::TrainingMemory> memory_of(const config::StepConfig& config);

/// @throws input::InputError if training or serving does not fit into the memory of a chip; the
/// message lists the parts and a remedy
void check_memory(const config::StepConfig& config);

}  // namespace equarx::step
