#include "experiments/step/memory.hpp"

#include <string_view>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/pointer.hpp"
#include "base/units/quantity.hpp"
#include "models/hardware/matrix_rate.hpp"
#include "models/workloads/footprint.hpp"
#include "models/workloads/operations.hpp"

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

void check_residual(const config::WorkloadConfig& workload, const hardware::Chip& chip,
                    const std::string& pointer) {
  if (workload.residual == workloads::ResidualPlace::hbm) return;
  const double needed = workloads::allreduce_bytes(workload.model, workload.phase);
  if (needed <= chip.vmem_capacity.value) return;
  throw input::InputError(
      input::pointer(pointer, "residual"),
      fmt::format("the residual needs {}, but {} has {} of VMEM; use \"hbm\", fewer tokens or a "
                  "smaller batch",
                  units::bytes_text(needed), chip.name,
                  units::bytes_text(chip.vmem_capacity.value)));
}

void check_matmuls(const config::WorkloadConfig& workload, const hardware::Chip& chip,
                   const std::string& pointer) {
  const hardware::MatrixType type = workload.recipe->products;
  if (hardware::matrix_rate(chip, type) > 0.0) return;
  throw input::InputError(
      input::pointer(pointer, "precision"),
      fmt::format(
          "\"{}\" needs {} matmuls, and their rate on {} is unspecified; add \"matrix_rate_{}\" "
          "to its hardware, or use a \"weight-only\" precision",
          workload.recipe->name, hardware::name(type), chip.name, hardware::name(type)));
}

/// Checks that the model and activations fit the HBM of the chips, that a VMEM residual fits, and
/// that the chips support the matmul types of the recipe.
void check_workload(const config::WorkloadConfig& workload, const hardware::Chip& chip,
                    std::uint32_t chips, const std::string& pointer) {
  check_residual(workload, chip, pointer);
  check_matmuls(workload, chip, pointer);
  const workloads::Footprint footprint = workloads::footprint(
      workload.model, workload.phase, chips, workload.attention, workload.operations);
  const double missing = workloads::missing_bytes(footprint, chip.hbm_capacity.value);
  if (missing <= 0.0) return;
  using units::bytes_text;
  throw input::DoesNotFitError(
      input::pointer(pointer, "model"),
      fmt::format("{} does not fit on {} x {}: each needs {} (weights {}, KV cache {}, activations "
                  "{}), {} more than its {}; use more chips, fewer tokens or a smaller batch",
                  workload.model.name, chips, chip.name, bytes_text(footprint.total()),
                  bytes_text(footprint.weights), bytes_text(footprint.kv_cache),
                  bytes_text(footprint.activations), bytes_text(missing),
                  bytes_text(chip.hbm_capacity.value)),
      footprint.total());
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
    check_workload(*config.workload, config.machine.chip, config.mesh.length("tensor"),
                   config.compared ? "/workload" : "/step/workload");
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
