// Communication of a step's tasks: collectives within groups, and permutes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/input/object_reader.hpp"
#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"

namespace equarx::config {

/// Reads "collective" and "permute" of tasks, and the chip lists that they name or contain
/// (docs/steps.md).
class CommunicationReader {
 public:
  /// Reads "groups" of the step: named chip lists. @throws input::InputError if they are malformed
  CommunicationReader(input::ObjectReader& step, const steps::Mesh& mesh);

  /// Reads a task's "collective". @throws input::InputError if it is invalid
  steps::CollectiveCall collective(input::ObjectReader reader);
  /// Reads a task's "permute". @throws input::InputError if it is invalid
  steps::Permute permute(input::ObjectReader reader);
  /// Reads the "chips" of a task, as an index into lists(). @throws input::InputError if they are no
  /// list of chips
  std::uint32_t chips(input::ObjectReader& reader);

  /// All chip lists read so far.
  const std::vector<steps::ChipLists>& lists() const { return lists_; }

 private:
  void read_groups(input::ObjectReader& reader, steps::CollectiveCall& call);
  std::uint32_t lists_id(input::ObjectReader& reader, std::string_view key);

  const steps::Mesh& mesh_;
  std::vector<steps::ChipLists> lists_;
};

/// A task's "collective" as JSON.
input::Json collective_json(const steps::CollectiveCall& call, const steps::StepGraph& graph,
                            const steps::Mesh& mesh);
/// A task's "permute" as JSON.
input::Json permute_json(const steps::Permute& permute, const steps::StepGraph& graph);

/// "groups" of a step as JSON: the named chip lists of a graph.
input::Json chip_lists_json(const steps::StepGraph& graph);

/// Schema of a task's "collective", with annotations.
input::Json collective_call_schema();
/// Schema of a task's "permute", with annotations.
input::Json permute_schema();
/// Schema of the "chips" of a task.
input::Json task_chips_schema();
/// Schema of chip lists.
input::Json chip_lists_schema();

}  // namespace equarx::config
