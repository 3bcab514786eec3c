// A whole step that a user asks for: a machine, a mesh, a graph of tasks, and how its collectives are carried out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/config/training_json.hpp"
#include "experiments/input/json_value.hpp"
#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"

namespace equarx::config {

/// Collectives of a step that are all the same: of one group of tasks, over the same axes of the mesh, of as much.
struct StepCall {
  std::string group;
  steps::CollectiveCall call;

  bool operator==(const StepCall&) const = default;
};

/// The step with its collectives carried out in one way.
struct StepVariant {
  std::string label;
  input::JsonValue rules;                     ///< as the user wrote them: an array
  std::vector<CollectiveConfig> collectives;  ///< by call
};

/// All that a user asks for of a step, with every default filled in.
struct StepConfig {
  /// Chip, topology, faults, and what simulates; no tensor, and no collectives.
  ExperimentConfig machine;
  steps::Mesh mesh;
  /// What the graph was made from: a model that is trained, or served by each tensor-parallel group; or tasks.
  std::optional<TrainingConfig> training = {};
  std::optional<WorkloadConfig> workload = {};
  steps::StepGraph graph;
  std::vector<StepCall> calls = {};  ///< of the graph, none twice, in the order in which they come
  std::vector<steps::Permute> permutes = {};  ///< likewise
  std::vector<StepVariant> variants = {};
  std::size_t baseline = 0;  ///< index into variants
};

/// Lengths of the axes that a mesh is laid on: slices, if a network joins them, and then those of a grid. Chips of other
/// topologies are one axis; but of a fully connected one any division is of groups that are fully connected, so its
/// axes are the last ones of the mesh, if these divide it. `mesh`: lengths of its axes.
std::vector<std::uint32_t> machine_axes(const TopologyConfig& topology,
                                        const std::vector<std::uint32_t>& mesh);

/// The chips of a group that lies on some axes of the machine, as a machine of its own. `machine`: lengths of its axes
TopologyConfig group_topology(const TopologyConfig& topology,
                              const std::vector<std::uint32_t>& machine,
                              const std::vector<std::size_t>& axes);

/// The chips of a collective's group. Groups that are listed may lie anywhere: each is taken for as many chips of which
/// any two are joined, so that ranks are placed in the order of the list.
TopologyConfig group_topology(const TopologyConfig& topology, const steps::Mesh& mesh,
                              const steps::CollectiveCall& call);

/// The algorithm of a collective where none is named: rings along the axes of a torus, two levels through a network,
/// all to all behind switches.
Algorithm usual_algorithm(collectives::Collective collective, const TopologyConfig& group);

/// The collectives of a graph, each once.
std::vector<StepCall> distinct_calls(const steps::StepGraph& graph);

/// The permutes of a graph, each once.
std::vector<steps::Permute> distinct_permutes(const steps::StepGraph& graph);

/// Index into `permutes` of a task's; none if it is no permute.
std::optional<std::size_t> permute_of(const steps::Task& task,
                                      const std::vector<steps::Permute>& permutes);

/// Index into `calls` of a task's collective; none if it is no collective.
std::optional<std::size_t> call_of(const steps::Task& task, const std::vector<StepCall>& calls);

}  // namespace equarx::config
