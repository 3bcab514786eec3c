// A transformer's phase as a schedule of core time and AllReduces.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "models/workloads/operation.hpp"
#include "models/workloads/roofline.hpp"
#include "sim/timeline.hpp"

namespace equarx::plan {

/// An operation of the phase, all its occurrences on one chip together.
struct OperationTotal {
  std::string name;
  workloads::OperationKind kind = workloads::OperationKind::memory;
  std::uint32_t count = 0;
  double time_s = 0.0;
  double flops = 0.0;
  double hbm_bytes = 0.0;
  workloads::Roof roof = workloads::Roof::hbm;  ///< what it waits for
};

/// Layers that are all alike.
struct LayerKind {
  std::uint32_t count = 0;
  sim::Schedule schedule;
};

/// A transformer's phase: its operations, and when each chip computes and communicates.
struct WorkloadPlan {
  std::vector<OperationTotal> operations;  ///< in order; AllReduces are not among them
  double compute_s = 0.0;                  ///< of one chip, in the whole phase
  std::uint32_t allreduces = 0;            ///< in the whole phase
  sim::Schedule schedule;                  ///< the whole phase
  std::vector<LayerKind> layers;           ///< the same in parts: each kind of layer,
  double outside_layers_s = 0.0;           ///< and what comes before and after them
};

/// Whether the model and its activations fit the HBM of so many chips, the residual their VMEM, if it is there, and
/// whether they have the products of its recipe.
/// @throws InputError if not, at `place`, the workload's
void check_fits(const config::WorkloadConfig& workload, const hardware::Chip& chip,
                std::uint32_t chips, const std::string& place);

/// @throws InputError if the model and its activations do not fit the chips, or the residual not their VMEM.
WorkloadPlan plan_workload(const config::ExperimentConfig& config);

}  // namespace equarx::plan
