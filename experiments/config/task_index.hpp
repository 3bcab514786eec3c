// Look-up of the distinct collectives and permutes of a step by its tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "experiments/config/step.hpp"
#include "models/steps/step.hpp"

namespace equarx::config {

/// Distinct collectives and permutes, numbered by first use. Each look-up takes the same time,
/// however many there are.
class TaskIndex {
 public:
  TaskIndex() = default;
  /// Calls and permutes of a graph, as distinct_calls() and distinct_permutes() return them.
  TaskIndex(const std::vector<StepCall>& calls, const std::vector<steps::Permute>& permutes);
  explicit TaskIndex(const StepConfig& config) : TaskIndex(config.calls, config.permutes) {}

  /// Number of a task's collective, the next one if it is new; std::nullopt for other tasks.
  std::optional<std::size_t> add_call(const steps::Task& task);
  /// Number of a task's permute, the next one if it is new; std::nullopt for other tasks.
  std::optional<std::size_t> add_permute(const steps::Task& task);

  /// Number of a task's collective; std::nullopt for other tasks and unlisted collectives.
  std::optional<std::size_t> call_of(const steps::Task& task) const;
  /// Number of a task's permute, whether it waits or not; std::nullopt for other tasks and unlisted
  /// permutes.
  std::optional<std::size_t> permute_of(const steps::Task& task) const;

 private:
  struct Hash {
    std::size_t operator()(const StepCall& call) const;
    std::size_t operator()(const steps::Permute& permute) const;
  };

  std::unordered_map<StepCall, std::size_t, Hash> calls_;
  std::unordered_map<steps::Permute, std::size_t, Hash> permutes_;
};

}  // namespace equarx::config
