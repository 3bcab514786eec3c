// Results of a step simulation.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/step.hpp"
#include "experiments/run/results.hpp"
#include "models/steps/live_memory.hpp"
#include "models/steps/step.hpp"
#include "models/workloads/operation.hpp"
#include "models/workloads/roofline.hpp"

namespace equarx::step {

/// Kind of a group of tasks.
enum class GroupKind : std::uint8_t { computation, collective, permute, host };

/// Error of a collective against its exact result.
struct CallAccuracy {
  double mse = 0.0;
  double nmse = 0.0;              ///< numerics::ErrorMetrics::comparable_nmse()
  double sampled_fraction = 1.0;  ///< share of the tensor's elements that were computed
};

/// Errors of a variant's collectives that have values.
struct StepAccuracy {
  double worst_nmse = 0.0;
  double mean_nmse = 0.0;  ///< weighted by bytes, over all tasks
};

/// Tasks of one group on one chip.
struct GroupResult {
  std::string name;
  GroupKind kind = GroupKind::computation;
  std::uint32_t tasks = 0;
  double isolated_s = 0.0;  ///< sum of task times when run alone
  double total_s = 0.0;     ///< wall time with at least one running task
  double exposed_s = 0.0;   ///< part of total_s without concurrent compute; 0 for computations
  double critical_s = 0.0;  ///< part of the critical path
  std::optional<CallAccuracy> error = {};  ///< of the worst collective with values
};

/// Total of all operations of one name on one chip.
struct OperationTotal {
  std::string name;
  workloads::OperationKind kind = workloads::OperationKind::memory;
  std::uint32_t count = 0;
  double time_s = 0.0;
  double flops = 0.0;
  double hbm_bytes = 0.0;
  workloads::Roof roof = workloads::Roof::hbm;  ///< its roofline limit
};

/// A collective of the step in isolation, and its values.
struct CollectiveResult {
  std::string group;
  std::uint32_t tasks = 0;  ///< that run it
  run::RunResult run;       ///< of one group
};

/// Utilization of the chips in training and serving.
struct Efficiency {
  // Core time of the operations in isolation, on a chip of nominal speed, in seconds.
  double matrix_s = 0.0;       ///< GEMMs
  double attention_s = 0.0;    ///< attention
  double elementwise_s = 0.0;  ///< element-wise ops and data movement
  double tokens_per_s = 0.0;   ///< per chip
  /// MFU: model FLOPs as a fraction of the bf16 peak; training only.
  std::optional<double> model_flops_share;
  double hardware_flops_share = 0.0;  ///< HFU: executed FLOPs as a fraction of the bf16 peak
};

/// A collective of a kind of step that is skipped, or to which some chips only send.
struct CallOfKind {
  std::string group;
  std::optional<std::uint32_t>
      senders;  ///< of a group of chips, without the server; none if skipped
};

/// Steps of a variant that communicate alike, simulated separately.
struct KindResult {
  double share = 1.0;  ///< of the steps
  double time_s = 0.0;
  std::vector<CallOfKind> calls;
};

/// Result of one variant; with several kinds of step, their mean. Task times are of the chip that ends last, the first one on a tie.
struct VariantResult : run::TimedRun {
  double compute_s = 0.0;  ///< time with a running compute task, overlapped or not
  /// By stage of a pipeline, share of the time without a running compute task; empty without one.
  std::vector<double> stage_idle = {};
  std::optional<double> hbm_share;  ///< hbm_share() of the configuration
  std::optional<Efficiency> efficiency;
  std::vector<GroupResult> groups;            ///< ordered by start
  std::vector<CollectiveResult> collectives;  ///< by call of the configuration
  std::vector<KindResult> kinds = {};         ///< empty if all steps are alike
  std::vector<steps::TaskTime> tasks;         ///< by task of the graph
  std::vector<steps::TaskId> critical_path;
  std::uint32_t simulated_chips = 0;
  std::optional<StepAccuracy> error;  ///< if a collective has values

  /// Tokens of the step over all chips, in training and serving.
  std::optional<double> tokens() const {
    if (!efficiency) return std::nullopt;
    return efficiency->tokens_per_s * time_s * chips;
  }
  /// Mean of `stage_idle`, in a pipeline.
  std::optional<double> bubble() const {
    if (stage_idle.empty()) return std::nullopt;
    return std::accumulate(stage_idle.begin(), stage_idle.end(), 0.0) /
           static_cast<double>(stage_idle.size());
  }
  /// Time without a running compute task; 0 if within rounding.
  double exposed_s() const {
    constexpr double kRounding = 1e-12;  // relative to the time
    const double rest_s = time_s - compute_s;
    return rest_s > kRounding * time_s ? rest_s : 0.0;
  }
};

/// Results of all variants of a step.
struct StepResult : run::Results<config::StepConfig, VariantResult> {
  std::optional<steps::LiveMemory> memory = {};  ///< of the chip with the most, for training
  std::vector<OperationTotal> operations = {};   ///< of the busiest chip; total_operations()
};

}  // namespace equarx::step
