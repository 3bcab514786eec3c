// What tasks of a step send from chip to chip: collectives within groups, and permutes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "experiments/input/object_reader.hpp"
#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"

namespace equarx::config {

/// Reads "collective" and "permute" of tasks, and the lists of chips that they name or have (docs/steps.md).
class CommunicationReader {
 public:
  /// Reads "groups" of the step: lists of chips under names. @throws input::InputError for what are no lists of chips
  CommunicationReader(input::ObjectReader& step, const steps::Mesh& mesh);

  /// A task's "collective". @throws input::InputError for what is not valid
  steps::CollectiveCall collective(input::ObjectReader reader);
  /// A task's "permute". @throws input::InputError for what is not valid
  steps::Permute permute(input::ObjectReader reader);

  /// All lists that there are.
  const std::vector<steps::ChipLists>& lists() const { return lists_; }

 private:
  void read_groups(input::ObjectReader& reader, steps::CollectiveCall& call);
  std::uint32_t lists_id(input::ObjectReader& reader, std::string_view key);

  const steps::Mesh& mesh_;
  std::vector<steps::ChipLists> lists_;
};

/// A task's "collective", as it is read.
input::Json collective_json(const steps::CollectiveCall& call, const steps::StepGraph& graph,
                            const steps::Mesh& mesh);
/// A task's "permute", as it is read.
input::Json permute_json(const steps::Permute& permute, const steps::StepGraph& graph);

/// "groups" of a step: the lists of a graph, under their names.
input::Json chip_lists_json(const steps::StepGraph& graph);

}  // namespace equarx::config
