#include "importers/common/imported_collective.hpp"

#include "models/steps/chip_lists.hpp"

namespace equarx::steps {

std::string set_groups(const std::optional<std::vector<std::size_t>>& along,
                       const std::vector<std::vector<std::uint32_t>>& groups, std::uint32_t chips,
                       StepGraph& graph, CollectiveCall& call) {
  if (along) {
    call.axes = *along;
    return along->empty() ? "groups of one chip" : "";
  }
  const std::string error = group_error(groups, chips);
  if (!error.empty()) return "unsupported groups: " + error;
  call.groups = {.lists = chip_lists_id(graph.chip_lists, groups),
                 .size = static_cast<std::uint32_t>(groups.front().size())};
  return {};
}

}  // namespace equarx::steps
