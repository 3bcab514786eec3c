#include "models/steps/roles.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "models/steps/chip_lists.hpp"
#include "models/steps/task_order.hpp"

namespace equarx::steps {
namespace {

using Chips = std::vector<std::uint32_t>;
using Lists = std::vector<Chips>;

Chips sorted(Chips chips) {
  std::ranges::sort(chips);
  chips.erase(std::unique(chips.begin(), chips.end()), chips.end());
  return chips;
}

Chips chips_in(const Lists& lists) {
  Chips chips;
  for (const Chips& list : lists) chips.insert(chips.end(), list.begin(), list.end());
  return sorted(std::move(chips));
}

/// Senders, receivers or both; a chip paired with itself is neither.
Chips chips_of_pairs(const Lists& pairs, bool senders, bool receivers) {
  Chips chips;
  for (const Chips& pair : pairs) {
    if (pair[0] == pair[1]) continue;
    if (senders) chips.push_back(pair[0]);
    if (receivers) chips.push_back(pair[1]);
  }
  return sorted(std::move(chips));
}

/// Number of a chip without its coordinates along some axes: the first chip of its group.
std::uint32_t first_of_group(const Mesh& mesh, const std::vector<std::size_t>& axes,
                             std::uint32_t chip) {
  std::uint32_t first = chip;
  std::uint32_t stride = 1;
  for (std::size_t axis = mesh.axes.size(); axis-- > 0;) {
    const std::uint32_t length = mesh.axes[axis].length;
    if (std::ranges::find(axes, axis) != axes.end()) first -= chip / stride % length * stride;
    stride *= length;
  }
  return first;
}

std::string group_left_out(const CollectiveCall& call, const Chips& chips, const Mesh& mesh) {
  for (std::uint32_t chip = 0; chip < mesh.chips(); ++chip) {
    const std::uint32_t first = first_of_group(mesh, call.axes, chip);
    if (std::ranges::binary_search(chips, chip) != std::ranges::binary_search(chips, first))
      return fmt::format(
          "chips {} and {} are in one group of the collective, but only one of them is "
          "listed; list whole groups",
          first, chip);
  }
  return {};
}

}  // namespace

std::optional<Chips> listed_chips(const StepGraph& graph, const Task& task) {
  if (task.chips) return chips_in(graph.chip_lists[*task.chips].lists);
  if (const auto* call = std::get_if<CollectiveCall>(&task.work); call != nullptr && call->groups)
    return chips_in(graph.chip_lists[call->groups->lists].lists);
  if (const auto* permute = std::get_if<Permute>(&task.work))
    return chips_of_pairs(graph.chip_lists[permute->pairs].lists, true, permute->waits);
  if (const auto* receive = std::get_if<Receive>(&task.work)) {
    const auto& permute = std::get<Permute>(graph.tasks[receive->permute].work);
    return chips_of_pairs(graph.chip_lists[permute.pairs].lists, false, true);
  }
  return std::nullopt;
}

std::string chips_error(const StepGraph& graph, const Task& task, const Mesh& mesh) {
  if (!task.chips) return {};
  const Chips chips = chips_in(graph.chip_lists[*task.chips].lists);
  if (chips.empty()) return "is empty; list the chips that run the task, like [0, 1]";
  if (chips.back() >= mesh.chips())
    return fmt::format("no chip {}; the mesh has chips 0 to {}", chips.back(), mesh.chips() - 1);
  const auto* call = std::get_if<CollectiveCall>(&task.work);
  if (std::holds_alternative<Permute>(task.work) || std::holds_alternative<Receive>(task.work))
    return "the pairs of a permute name the chips that run it; remove this key";
  if (call == nullptr) return {};
  if (call->groups)
    return "the groups of the collective name the chips that run it; remove this key";
  return group_left_out(*call, chips, mesh);
}

Roles::Roles(const StepGraph& graph, std::uint32_t chips) : chips_(chips) {
  std::map<Chips, std::uint32_t> known;
  for (const Task& task : graph.tasks) {
    const std::optional<Chips> listed = listed_chips(graph, task);
    std::optional<std::uint32_t>& set = set_of_.emplace_back();
    if (!listed || listed->size() == chips) continue;
    const auto [entry, is_new] = known.emplace(*listed, static_cast<std::uint32_t>(sets_.size()));
    set = entry->second;
    if (!is_new) continue;
    sizes_.push_back(listed->size());
    std::vector<bool>& members = sets_.emplace_back(chips);
    for (const std::uint32_t chip : *listed) members[chip] = true;
  }
}

std::vector<std::uint32_t> Roles::representatives() const {
  std::set<std::vector<bool>> seen;
  std::vector<std::uint32_t> firsts;
  for (std::uint32_t chip = 0; chip < chips_; ++chip) {
    std::vector<bool> belongs;
    for (const std::vector<bool>& set : sets_) belongs.push_back(set[chip]);
    if (seen.insert(std::move(belongs)).second) firsts.push_back(chip);
  }
  return firsts;
}

std::vector<bool> Roles::tasks_of(std::uint32_t chip) const {
  std::vector<bool> tasks;
  for (TaskId task = 0; task < set_of_.size(); ++task) tasks.push_back(runs(chip, task));
  return tasks;
}

double longest_path_s(const StepGraph& graph, const Roles& roles,
                      const std::vector<double>& seconds) {
  double longest_s = 0.0;
  const TaskOrder tasks = task_order(graph);
  for (const std::uint32_t chip : roles.representatives())
    longest_s = std::max(longest_s, longest_path_s(tasks, seconds, roles.tasks_of(chip)));
  return longest_s;
}

double busiest_s(const Roles& roles, const std::vector<double>& seconds) {
  double most_s = 0.0;
  for (const std::uint32_t chip : roles.representatives()) {
    double sum_s = 0.0;
    for (TaskId task = 0; task < seconds.size(); ++task)
      if (roles.runs(chip, task)) sum_s += seconds[task];
    most_s = std::max(most_s, sum_s);
  }
  return most_s;
}

}  // namespace equarx::steps
