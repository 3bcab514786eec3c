// Configuration of a served model: replicas on a machine, a scheduler, and a load.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/input/json_value.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/step.hpp"
#include "models/serving/replica.hpp"
#include "models/serving/requests.hpp"
#include "models/steps/mesh.hpp"

namespace equarx::config {

/// Scheduler and memory of a replica.
struct SchedulerConfig {
  serving::Limits limits;
  std::uint64_t block = 16;      ///< positions of a block of the KV cache
  double memory = 0.9;           ///< share of HBM for weights, activations and KV cache
  double step_overhead_s = 0.0;  ///< of the engine, between steps
};

/// Replicas on a machine: one per position of the mesh's "data" axis.
struct PoolConfig {
  ExperimentConfig machine;  ///< chip, topology and simulation settings
  steps::Mesh mesh;
  WorkloadConfig workload;  ///< model, formats and attention; its phase is unused
  SchedulerConfig scheduler;
  input::JsonValue rules = {};  ///< "quantize" as the user wrote it, or null

  /// Chips of a replica.
  std::uint32_t tensor() const { return mesh.length("tensor"); }
  std::uint32_t replicas() const { return mesh.length("data"); }
  /// Chips of all replicas.
  std::uint32_t chips() const { return tensor() * replicas(); }
};

/// Prefill in a pool of its own.
struct PrefillConfig {
  PoolConfig pool;
  double bandwidth = 0.0;  ///< of KV transfers, per chip of a prefill replica, B/s
  double latency_s = 0.0;
};

/// Complete configuration of a served model, with all defaults filled in.
struct ServingConfig {
  PoolConfig pool;
  std::optional<PrefillConfig> prefill = {};
  serving::Load load;
  std::string trace = {};  ///< file of the listed requests, as the user wrote it
};

/// The step in which the replicas of a pool process `rows` positions each. @throws
/// input::InputError as reading a step
StepConfig step_of(const PoolConfig& pool, std::uint64_t rows);

}  // namespace equarx::config
