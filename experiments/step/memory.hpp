// Memory check of training and serving.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "experiments/config/step.hpp"
#include "models/steps/live_memory.hpp"

namespace equarx::step {

/// Sizes of the parts for messages: "weights 1.5 GiB, gradients …".
std::string parts_text(const steps::LiveMemory& memory);

/// Mesh axis along which the chips of training run different layers.
inline constexpr const char* kPipelineAxis = "pipeline";

/// Stage of a chip, numbered as in Mesh::chip(); std::nullopt if the step trains without a pipeline.
std::optional<std::uint32_t> stage_of(const config::StepConfig& config, std::uint32_t chip);

/// Stage of the chips with this memory.
std::optional<std::uint32_t> stage_of(const config::StepConfig& config,
                                      const steps::LiveMemory& memory);

/// Largest memory of a chip alive at once; std::nullopt if the step trains no model.
std::optional<steps::LiveMemory> memory_of(const config::StepConfig& config);

/// Memory that training or serving needs as a share of the HBM of a chip; std::nullopt for tasks of
/// the user's own.
std::optional<double> hbm_share(const config::StepConfig& config);

/// The parts that do not fit into the HBM of a chip, and a remedy, in one line with its pointer;
/// std::nullopt if all fit, or with "memory": "ignore".
std::optional<std::string> memory_warning(const config::StepConfig& config);

/// @throws input::InputError if training or serving needs an operation that the chip lacks, or a
/// VMEM that it lacks; with "memory": "refuse" also if it does not fit into the HBM of a chip
void check_memory(const config::StepConfig& config);

}  // namespace equarx::step
