#include "experiments/step/memory.hpp"

#include <string_view>

#include <fmt/format.h>

#include "experiments/input/errors.hpp"
#include "experiments/plan/workload.hpp"
#include "models/units/quantity.hpp"

namespace equarx::step {

using units::bytes_text;

namespace {

/// Suggests the setting that shrinks the largest adjustable part.
std::string_view remedy_for(const steps::TrainingMemory& memory) {
  const double states = memory.weights + memory.gradients + memory.optimizer;
  if (states >= memory.activations && states >= memory.logits) return "a longer \"fsdp\" axis";
  if (memory.activations >= memory.logits)
    return "a smaller batch, more microbatches, or \"remat\": \"full\"";
  return "a smaller batch, or more microbatches";
}

}  // namespace

std::string parts_text(const steps::TrainingMemory& memory) {
  return fmt::format(
      "weights {}, gradients {}, optimizer {}, gathered weights {}, activations {}, logits {}",
      bytes_text(memory.weights), bytes_text(memory.gradients), bytes_text(memory.optimizer),
      bytes_text(memory.gathered), bytes_text(memory.activations), bytes_text(memory.logits));
}

std::optional<steps::TrainingMemory> memory_of(const config::StepConfig& config) {
  if (!config.training) return std::nullopt;
  return steps::training_memory(config.training->training, config.mesh);
}

void check_memory(const config::StepConfig& config) {
  if (config.workload)
    plan::check_fits(*config.workload, config.machine.chip, config.mesh.length("tensor"),
                     "/step/workload");
  const std::optional<steps::TrainingMemory> memory = memory_of(config);
  const hardware::Chip& chip = config.machine.chip;
  if (!memory || memory->total() <= chip.hbm_capacity.value) return;
  throw input::DoesNotFitError(
      "/step/training",
      fmt::format("{} does not fit: each chip needs {} ({}), but {} has {}; use {}",
                  config.training->training.model.name, bytes_text(memory->total()),
                  parts_text(*memory), chip.name, bytes_text(chip.hbm_capacity.value),
                  remedy_for(*memory)),
      memory->total());
}

}  // namespace equarx::step
