// A transformer's phase as a schedule of compute times and AllReduces.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "models/workloads/operation.hpp"
#include "models/workloads/roofline.hpp"
#include "sim/timeline.hpp"

namespace equarx::plan {

/// Total of all occurrences of an operation on one chip.
struct OperationTotal {
  std::string name;
  workloads::OperationKind kind = workloads::OperationKind::memory;
  std::uint32_t count = 0;
  double time_s = 0.0;
  double flops = 0.0;
  double hbm_bytes = 0.0;
  workloads::Roof roof = workloads::Roof::hbm;  ///< its roofline limit
};

/// Identical layers.
struct LayerKind {
  std::uint32_t count = 0;
  sim::Schedule schedule;
};

/// A transformer's phase: its operations, and the schedule of compute and communication on each
/// chip.
struct WorkloadPlan {
  std::vector<OperationTotal> operations;  ///< in order; without AllReduces
  double compute_s = 0.0;                  ///< per chip, whole phase
  std::uint32_t allreduces = 0;            ///< in the whole phase
  sim::Schedule schedule;                  ///< the whole phase
  std::vector<LayerKind> layers;           ///< the same by parts: each kind of layer,
  double outside_layers_s = 0.0;           ///< and everything before and after them
};

/// Checks that the model and activations fit the HBM of the chips, that a VMEM residual fits, and
/// that the chips support the matmul types of the recipe. @throws InputError at `pointer`, the
/// workload's, otherwise
void check_fits(const config::WorkloadConfig& workload, const hardware::Chip& chip,
                std::uint32_t chips, const std::string& pointer);

/// Plans the workload. @throws InputError if it does not fit the chips (check_fits()).
WorkloadPlan plan_workload(const config::ExperimentConfig& config);

}  // namespace equarx::plan
