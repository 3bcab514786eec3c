#include "experiments/step/memory.hpp"

#include <string_view>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/pointer.hpp"
#include "base/units/quantity.hpp"
#include "models/hardware/matrix_rate.hpp"
#include "models/workloads/footprint.hpp"
#include "models/workloads/operations.hpp"
#include "models/workloads/scheme_work.hpp"

namespace equarx::step {

using units::bytes_text;

namespace {

/// Suggests the setting that shrinks the largest adjustable part.
std::string_view remedy_for(const steps::LiveMemory& memory) {
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
  const hardware::MatrixType type = workloads::products_of(workload.precision.scheme.unit);
  if (hardware::matrix_rate(chip, type) > 0.0) return;
  const std::string& name = workload.precision.name;
  throw input::InputError(
      input::pointer(pointer, "precision"),
      fmt::format(
          "{} needs {} matmuls, and their rate on {} is unspecified; add \"matrix_rate_{}\" to its "
          "hardware, or use a scheme of bf16 products",
          name.empty() ? "this scheme" : fmt::format("\"{}\"", name), hardware::name(type),
          chip.name, hardware::name(type)));
}

/// A model that does not fit.
struct Shortage {
  std::string pointer;
  std::string message;
  double needs_bytes = 0.0;
};

workloads::Footprint footprint_of(const config::StepConfig& config) {
  const config::WorkloadConfig& workload = *config.workload;
  return workloads::footprint(workload.model, workload.phase, config.mesh.length("tensor"),
                              workload.attention, workload.operations);
}

std::string workload_pointer(const config::StepConfig& config) {
  return config.compared ? "/workload" : "/step/workload";
}

std::optional<Shortage> shortage_of_serving(const config::StepConfig& config) {
  const hardware::Chip& chip = config.machine.chip;
  const workloads::Footprint footprint = footprint_of(config);
  const double missing = workloads::missing_bytes(footprint, chip.hbm_capacity.value);
  if (missing <= 0.0) return std::nullopt;
  return Shortage{
      input::pointer(workload_pointer(config), "model"),
      fmt::format("{} does not fit on {} x {}: each needs {} (weights {}, KV cache {}, activations "
                  "{}), {} more than its {}; use more chips, fewer tokens or a smaller batch",
                  config.workload->model.name, config.mesh.length("tensor"), chip.name,
                  bytes_text(footprint.total()), bytes_text(footprint.weights),
                  bytes_text(footprint.kv_cache), bytes_text(footprint.activations),
                  bytes_text(missing), bytes_text(chip.hbm_capacity.value)),
      footprint.total()};
}

std::string of_stage(const config::StepConfig& config, const steps::LiveMemory& memory) {
  const std::optional<std::uint32_t> stage = stage_of(config, memory);
  return stage ? fmt::format(" of stage {}", *stage) : "";
}

std::optional<Shortage> shortage_of_training(const config::StepConfig& config) {
  const hardware::Chip& chip = config.machine.chip;
  const steps::LiveMemory memory = steps::peak_memory(config.graph);
  if (memory.total() <= chip.hbm_capacity.value) return std::nullopt;
  return Shortage{
      "/step/training",
      fmt::format("{} does not fit: each chip{} needs {} during \"{}\" ({}), but {} has {}; use {}",
                  config.training->training.model.name, of_stage(config, memory),
                  bytes_text(memory.total()), memory.task, parts_text(memory), chip.name,
                  bytes_text(chip.hbm_capacity.value), remedy_for(memory)),
      memory.total()};
}

std::optional<Shortage> shortage_of(const config::StepConfig& config) {
  if (config.workload) return shortage_of_serving(config);
  if (config.training) return shortage_of_training(config);
  return std::nullopt;
}

}  // namespace

std::string parts_text(const steps::LiveMemory& memory) {
  return fmt::format(
      "weights {}, gradients {}, optimizer {}, gathered weights {}, activations {}, logits {}",
      bytes_text(memory.weights), bytes_text(memory.gradients), bytes_text(memory.optimizer),
      bytes_text(memory.gathered), bytes_text(memory.activations), bytes_text(memory.logits));
}

std::optional<std::uint32_t> stage_of(const config::StepConfig& config, std::uint32_t chip) {
  const std::optional<std::size_t> axis = config.mesh.find(kPipelineAxis);
  if (!axis || config.mesh.axes[*axis].length == 1) return std::nullopt;
  std::uint32_t stride = 1;
  for (std::size_t later = *axis + 1; later < config.mesh.axes.size(); ++later)
    stride *= config.mesh.axes[later].length;
  return chip / stride % config.mesh.axes[*axis].length;
}

std::optional<std::uint32_t> stage_of(const config::StepConfig& config,
                                      const steps::LiveMemory& memory) {
  if (!memory.chips) return std::nullopt;
  return stage_of(config, config.graph.chip_lists[*memory.chips].lists.front().front());
}

std::optional<steps::LiveMemory> memory_of(const config::StepConfig& config) {
  if (!config.training) return std::nullopt;
  return steps::peak_memory(config.graph);
}

std::optional<double> hbm_share(const config::StepConfig& config) {
  if (!config.training && !config.workload) return std::nullopt;
  const double needed =
      config.workload ? footprint_of(config).total() : steps::peak_memory(config.graph).total();
  return needed / config.machine.chip.hbm_capacity.value;
}

std::optional<std::string> memory_warning(const config::StepConfig& config) {
  if (config.memory == config::MemoryCheck::ignore) return std::nullopt;
  const std::optional<Shortage> shortage = shortage_of(config);
  if (!shortage) return std::nullopt;
  return fmt::format("{}: {}; the times assume that it fits", shortage->pointer, shortage->message);
}

void check_memory(const config::StepConfig& config) {
  if (config.workload) {
    check_residual(*config.workload, config.machine.chip, workload_pointer(config));
    check_matmuls(*config.workload, config.machine.chip, workload_pointer(config));
  }
  if (config.memory != config::MemoryCheck::refuse) return;
  const std::optional<Shortage> shortage = shortage_of(config);
  if (shortage)
    throw input::DoesNotFitError(shortage->pointer, shortage->message, shortage->needs_bytes);
}

}  // namespace equarx::step
