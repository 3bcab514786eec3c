#include "models/steps/imported_collective.hpp"

#include "models/steps/chip_lists.hpp"

namespace equarx::steps {

std::string set_groups(const std::optional<std::vector<std::size_t>>& along,
                       const std::vector<std::vector<std::uint32_t>>& groups, std::uint32_t chips,
                       StepGraph& graph, CollectiveCall& call) {
  if (along) {
    call.axes = *along;
    return along->empty() ? "its groups are of one chip" : "";
  }
  const std::string why_not = why_no_groups(groups, chips);
  if (!why_not.empty()) return "its groups cannot be simulated: " + why_not;
  call.groups = {.lists = chip_lists_id(graph.chip_lists, groups),
                 .size = static_cast<std::uint32_t>(groups.front().size())};
  return {};
}

}  // namespace equarx::steps
