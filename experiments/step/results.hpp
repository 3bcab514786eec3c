// What a step's simulation has found out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/step.hpp"
#include "models/steps/step.hpp"
#include "models/steps/training_memory.hpp"
#include "sim/time_executor.hpp"

namespace equarx::step {

/// What a group of tasks is.
enum class GroupKind : std::uint8_t { computation, collective, permute, host };

/// Tasks of one group, on one chip.
struct GroupResult {
  std::string name;
  GroupKind kind = GroupKind::computation;
  std::uint32_t tasks = 0;
  double alone_s = 0.0;    ///< that they would take one after the other, with nothing else going on
  double total_s = 0.0;    ///< in which one of them at least goes on
  double exposed_s = 0.0;  ///< of that, in which nothing is computed; 0 of a computation
  double critical_s =
      0.0;  ///< of the critical path, in which one of them is the task that all wait for
};

/// How well the chips are used, where a model is trained or served.
struct Efficiency {
  double tokens_per_s = 0.0;  ///< of each chip
  /// MFU: FLOPs that the model asks for, of the peak of bf16 in that time; of training.
  std::optional<double> model_flops_share;
  double hardware_flops_share = 0.0;  ///< HFU: FLOPs that are computed, likewise
};

/// The step with its collectives carried out in one way. Times of tasks are those of one chip: the one that ends last,
/// the first of several.
struct VariantResult {
  std::string label;
  double time_s = 0.0;
  double speedup = 1.0;  ///< the baseline's time / this one
  double lower_bound_s = 0.0;
  double computing_s =
      0.0;  ///< in which the core computes a task of the step, alone or beside a collective
  double core_busy_s = 0.0;  ///< of core time, of tasks and of collectives' instructions
  bool calibrated = false;   ///< the chip: see hardware::Chip::is_calibrated()
  std::optional<Efficiency> efficiency;
  std::vector<GroupResult> groups;     ///< in the order in which they begin
  std::vector<steps::TaskTime> tasks;  ///< by task of the graph
  std::vector<steps::TaskId> critical_path;
  std::uint64_t messages = 0;  ///< simulated
  std::uint32_t simulated_chips = 0;
  bool symmetric = false;
  std::string simulation_reason;
  sim::Engine engine = sim::Engine::direct;

  /// In which the core computes no task; 0 if that is no more than rounding.
  double exposed_s() const {
    constexpr double kRounding = 1e-12;  // of the time
    const double rest_s = time_s - computing_s;
    return rest_s > kRounding * time_s ? rest_s : 0.0;
  }
};

/// What was asked for and what came of it.
struct StepResult {
  config::StepConfig config;
  std::optional<steps::TrainingMemory> memory;  ///< of each chip, where a model is trained
  std::vector<VariantResult> variants;
};

}  // namespace equarx::step
