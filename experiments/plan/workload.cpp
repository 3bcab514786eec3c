#include "experiments/plan/workload.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "experiments/config/topology.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/pointer.hpp"
#include "models/hardware/matrix_rate.hpp"
#include "models/units/quantity.hpp"
#include "models/workloads/footprint.hpp"
#include "models/workloads/operations.hpp"

namespace equarx::plan {
namespace {

using workloads::Operation;
using workloads::OperationKind;

class Planner {
 public:
  Planner(const config::WorkloadConfig& workload, const hardware::Chip& chip)
      : chunks_(workload.chunks), rates_(workloads::compute_rates(chip)) {
    plan_.schedule.compute_s.clear();
    if (chunks_ > 1) plan_.schedule.overlap = chunks_;
  }

  void add(const std::vector<Operation>& operations) {
    for (const Operation& operation : operations) {
      if (operation.kind == OperationKind::allreduce) {
        plan_.schedule.compute_s.insert(plan_.schedule.compute_s.end(), chunks_,
                                        std::exchange(pending_s_, 0.0));
        continue;
      }
      const auto [seconds, roof] =
          workloads::roofline(workloads::part_of(operation, chunks_), rates_);
      pending_s_ += seconds;
      count(operation, seconds * chunks_, roof);
    }
  }

  /// Compute after the last AllReduce runs for all chunks, one after the other.
  WorkloadPlan finish() && {
    plan_.allreduces = static_cast<std::uint32_t>(plan_.schedule.compute_s.size());
    plan_.schedule.compute_s.push_back(pending_s_ * chunks_);
    return std::move(plan_);
  }

 private:
  void count(const Operation& operation, double seconds, workloads::Roof roof) {
    auto total = std::ranges::find(plan_.operations, operation.name, &OperationTotal::name);
    if (total == plan_.operations.end())
      total = plan_.operations.insert(
          total, {.name = std::string(operation.name), .kind = operation.kind, .roof = roof});
    ++total->count;
    total->time_s += seconds;
    total->flops += operation.flops;
    total->hbm_bytes += operation.hbm_bytes() + operation.weight_bytes * (chunks_ - 1.0);
    plan_.compute_s += seconds;
  }

  std::uint32_t chunks_;
  workloads::ComputeRates rates_;
  WorkloadPlan plan_;
  double pending_s_ = 0.0;  ///< compute of one chunk since the last AllReduce
};

sim::Schedule schedule_of(const std::vector<Operation>& operations,
                          const config::WorkloadConfig& workload, const hardware::Chip& chip) {
  Planner planner(workload, chip);
  planner.add(operations);
  return std::move(planner).finish().schedule;
}

double compute_time_s(const std::vector<Operation>& operations,
                      const config::WorkloadConfig& workload, const hardware::Chip& chip) {
  Planner planner(workload, chip);
  planner.add(operations);
  return std::move(planner).finish().compute_s;
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

/// Merges local layers that compute the full score matrix with the global ones.
void merge_identical(std::vector<LayerKind>& layers) {
  if (layers[0].schedule.compute_s == layers[1].schedule.compute_s) {
    layers[0].count += layers[1].count;
    layers.pop_back();
  }
  std::erase_if(layers, [](const LayerKind& kind) { return kind.count == 0; });
}

}  // namespace

void check_fits(const config::WorkloadConfig& workload, const hardware::Chip& chip,
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

WorkloadPlan plan_workload(const config::ExperimentConfig& config) {
  const config::WorkloadConfig& workload = config.workload.value();
  const std::uint32_t chips = config::count_chips(config.topology);
  check_fits(workload, config.chip, chips, "/workload");
  const workloads::PhaseOperations& operations = workload.operations;
  Planner planner(workload, config.chip);
  planner.add(operations.embedding);
  for (std::uint32_t layer = 0; layer < workload.model.layers; ++layer)
    planner.add(is_local(workload.model, layer) ? operations.local_layer : operations.global_layer);
  planner.add(operations.head);
  WorkloadPlan plan = std::move(planner).finish();
  const std::uint32_t local = local_layers(workload.model);
  plan.layers = {
      {local, schedule_of(operations.local_layer, workload, config.chip)},
      {workload.model.layers - local, schedule_of(operations.global_layer, workload, config.chip)}};
  merge_identical(plan.layers);
  plan.outside_layers_s = compute_time_s(operations.embedding, workload, config.chip) +
                          compute_time_s(operations.head, workload, config.chip);
  return plan;
}

}  // namespace equarx::plan
