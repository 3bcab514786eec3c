// Configuration of a whole step: a machine, a mesh, a graph of tasks, and the algorithms and
// formats of its collectives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/input/json_value.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/group_topology.hpp"
#include "experiments/config/step_when.hpp"
#include "experiments/config/training_json.hpp"
#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"

namespace equarx::config {

/// Identical collectives of a step: same task group, mesh axes, size and type.
struct StepCall {
  std::string group;
  steps::CollectiveCall call;

  bool operator==(const StepCall&) const = default;
};

/// A variant of the step: one choice of algorithms and formats.
struct StepVariant {
  std::string label;
  input::JsonValue rules;                      ///< the "quantize" array as the user wrote it
  std::vector<CollectiveConfig> collectives;   ///< one per call
  std::vector<StepKind> kinds = {StepKind{}};  ///< the one that communicates most first
};

/// Collectives compared in a workload, as in a configuration without one: each is a variant.
struct ComparedCollectives {
  TensorConfig tensor;  ///< input of one AllReduce
  std::vector<CollectiveConfig> collectives;
  bool numerics = true;
};

/// Treatment of a model that does not fit into the HBM of a chip.
enum class MemoryCheck : std::uint8_t { warn, refuse, ignore };

/// Complete configuration of a step, with all defaults filled in.
struct StepConfig {
  /// Chip, topology, faults and simulation settings; no tensor or collectives.
  ExperimentConfig machine;
  steps::Mesh mesh;
  /// Source of the graph, if it is not "tasks": a trained model, or a model served by each
  /// tensor-parallel group.
  std::optional<TrainingConfig> training = {};
  std::optional<WorkloadConfig> workload = {};
  /// Set if "workload" and "collectives" are given instead of "mesh", "step" and "variants".
  std::optional<ComparedCollectives> compared = {};
  steps::StepGraph graph;
  std::vector<StepCall> calls = {};           ///< distinct calls of the graph, by first use
  std::vector<steps::Permute> permutes = {};  ///< distinct permutes of the graph, by first use
  std::vector<StepVariant> variants = {};
  std::size_t baseline = 0;  ///< index into variants
  MemoryCheck memory = MemoryCheck::warn;
  /// Tensors of the collectives, by call, whose errors are computed; std::nullopt for the others.
  std::vector<std::optional<TensorConfig>> values = {};
  input::JsonValue value_rules = {};  ///< the "values" array as the user wrote it, or null
};

/// Default algorithm of a collective: rings along the axes of a torus, two levels across a network,
/// direct exchange through switches.
Algorithm usual_algorithm(collectives::Collective collective, const TopologyConfig& group);

/// Distinct collectives of a graph.
std::vector<StepCall> distinct_calls(const steps::StepGraph& graph);

/// Distinct messages of permutes of a graph; all of them wait.
std::vector<steps::Permute> distinct_permutes(const steps::StepGraph& graph);

/// Number of tasks that run each of `config.calls`.
std::vector<std::uint32_t> tasks_of_calls(const StepConfig& config);

}  // namespace equarx::config
