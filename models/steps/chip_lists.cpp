#include "models/steps/chip_lists.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace equarx::steps {
namespace {

using Lists = std::vector<std::vector<std::uint32_t>>;

std::string no_such_chip(std::uint32_t chip, std::uint32_t chips) {
  return fmt::format("no chip {}; the mesh has chips 0 to {}", chip, chips - 1);
}

bool has_name(const std::vector<ChipLists>& known, const std::string& name) {
  return std::ranges::find(known, name, &ChipLists::name) != known.end();
}

}  // namespace

std::string group_error(const Lists& lists, std::uint32_t chips) {
  if (lists.empty()) return "no groups given; list the chips of each, like [[0, 3], [1, 2]]";
  std::vector<bool> seen(chips);
  for (const std::vector<std::uint32_t>& group : lists) {
    if (group.size() != lists.front().size())
      return fmt::format(
          "one group has {} chips and another {}; all groups must have the same size",
          lists.front().size(), group.size());
    for (const std::uint32_t chip : group) {
      if (chip >= chips) return no_such_chip(chip, chips);
      if (seen[chip])
        return fmt::format("chip {} is listed twice; each chip can be in one group", chip);
      seen[chip] = true;
    }
  }
  return lists.front().size() < 2 ? "a collective needs groups of at least two chips" : "";
}

std::optional<std::uint32_t> unlisted_chip(const Lists& lists, std::uint32_t chips) {
  std::vector<bool> listed(chips);
  for (const std::vector<std::uint32_t>& list : lists)
    for (const std::uint32_t chip : list) listed[chip] = true;
  const auto missing = std::ranges::find(listed, false);
  if (missing == listed.end()) return std::nullopt;
  return static_cast<std::uint32_t>(missing - listed.begin());
}

std::string pair_error(const Lists& lists, std::uint32_t chips) {
  std::vector<bool> sends(chips);
  std::vector<bool> receives(chips);
  bool any = false;
  for (const std::vector<std::uint32_t>& pair : lists) {
    if (pair.size() != 2)
      return fmt::format("[{}] is not a pair; expected [sender, receiver]", fmt::join(pair, ", "));
    const auto [from, to] = std::pair{pair[0], pair[1]};
    if (std::max(from, to) >= chips) return no_such_chip(std::max(from, to), chips);
    if (sends[from])
      return fmt::format("chip {} sends twice; a chip can send to one other chip", from);
    if (receives[to])
      return fmt::format("chip {} receives twice; a chip can receive from one other chip", to);
    sends[from] = true;
    receives[to] = true;
    any = any || from != to;
  }
  return any ? "" : "no chip sends to another; expected pairs like [[0, 1], [1, 2]]";
}

std::optional<Shift> shift_of(const Lists& pairs, const Mesh& mesh) {
  if (pairs.size() != mesh.chips()) return std::nullopt;
  const std::uint32_t from = pairs.front()[0];
  const std::uint32_t to = pairs.front()[1];
  std::uint32_t stride = mesh.chips();
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    const std::uint32_t length = mesh.axes[axis].length;
    stride /= length;
    const auto coordinate_of = [&](std::uint32_t chip) { return chip / stride % length; };
    const std::uint32_t steps = (coordinate_of(to) + length - coordinate_of(from)) % length;
    if (steps == 0) continue;
    const bool all = std::ranges::all_of(pairs, [&](const std::vector<std::uint32_t>& pair) {
      const std::uint32_t coordinate = coordinate_of(pair[0]);
      return pair[1] == pair[0] - coordinate * stride + (coordinate + steps) % length * stride;
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
