#include "models/steps/chip_lists.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace equarx::steps {
namespace {

using Lists = std::vector<std::vector<std::uint32_t>>;

std::string not_there(std::uint32_t chip, std::uint32_t chips) {
  return fmt::format("there is no chip {}; the mesh has chips 0 to {}", chip, chips - 1);
}

bool has_name(const std::vector<ChipLists>& known, const std::string& name) {
  return std::ranges::find(known, name, &ChipLists::name) != known.end();
}

}  // namespace

std::string why_no_groups(const Lists& lists, std::uint32_t chips) {
  if (lists.empty()) return "there are no groups; list the chips of each, like [[0, 3], [1, 2]]";
  std::vector<bool> seen(chips);
  for (const std::vector<std::uint32_t>& group : lists) {
    if (group.size() != lists.front().size())
      return fmt::format("one group has {} chips and another {}; all need as many",
                         lists.front().size(), group.size());
    for (const std::uint32_t chip : group) {
      if (chip >= chips) return not_there(chip, chips);
      if (seen[chip]) return fmt::format("chip {} is there twice; each chip is in one group", chip);
      seen[chip] = true;
    }
  }
  if (lists.front().size() < 2) return "a collective needs groups of two chips or more";
  const auto missing = std::ranges::find(seen, false);
  if (missing == seen.end()) return {};
  return fmt::format("chip {} is in no group; each chip is in one", missing - seen.begin());
}

std::string why_no_pairs(const Lists& lists, std::uint32_t chips) {
  std::vector<bool> sends(chips);
  std::vector<bool> receives(chips);
  bool any = false;
  for (const std::vector<std::uint32_t>& pair : lists) {
    if (pair.size() != 2)
      return fmt::format("[{}] is no pair; give the chip that sends and the one that receives",
                         fmt::join(pair, ", "));
    const auto [from, to] = std::pair{pair[0], pair[1]};
    if (std::max(from, to) >= chips) return not_there(std::max(from, to), chips);
    if (sends[from]) return fmt::format("chip {} sends twice; a chip sends to one other", from);
    if (receives[to]) return fmt::format("chip {} receives twice; a chip receives from one", to);
    sends[from] = true;
    receives[to] = true;
    any = any || from != to;
  }
  return any ? "" : "no chip sends to another; give pairs like [[0, 1], [1, 2]]";
}

std::optional<Shift> shift_of(const Lists& pairs, const Mesh& mesh) {
  if (pairs.size() != mesh.chips()) return std::nullopt;
  const std::uint32_t from = pairs.front()[0];
  const std::uint32_t to = pairs.front()[1];
  std::uint32_t stride = mesh.chips();
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    const std::uint32_t length = mesh.axes[axis].length;
    stride /= length;
    const auto along = [&](std::uint32_t chip) { return chip / stride % length; };
    const std::uint32_t steps = (along(to) + length - along(from)) % length;
    if (steps == 0) continue;
    const bool all = std::ranges::all_of(pairs, [&](const std::vector<std::uint32_t>& pair) {
      const std::uint32_t place = along(pair[0]);
      return pair[1] == pair[0] - place * stride + (place + steps) % length * stride;
    });
    return all ? std::optional(Shift{axis, steps}) : std::nullopt;
  }
  return std::nullopt;
}

std::uint32_t chip_lists_id(std::vector<ChipLists>& known, Lists lists) {
  const auto found = std::ranges::find(known, lists, &ChipLists::lists);
  if (found != known.end()) return static_cast<std::uint32_t>(found - known.begin());
  std::size_t number = known.size();
  while (has_name(known, fmt::format("chips {}", number))) ++number;
  known.push_back({fmt::format("chips {}", number), std::move(lists)});
  return static_cast<std::uint32_t>(known.size() - 1);
}

std::uint32_t group_size(const CollectiveCall& call, const Mesh& mesh) {
  return call.groups ? call.groups->size : mesh.group_size(call.axes);
}

std::string over_text(const CollectiveCall& call, const Mesh& mesh) {
  if (call.groups) return fmt::format("groups of {}", call.groups->size);
  std::vector<std::string> names;
  for (const std::size_t axis : call.axes) names.push_back(mesh.axes[axis].name);
  return fmt::format("{}", fmt::join(names, "+"));
}

}  // namespace equarx::steps
