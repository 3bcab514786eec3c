#include "models/steps/mesh.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>

namespace equarx::steps {
std::uint32_t Mesh::chips() const {
  return std::accumulate(machine.begin(), machine.end(), std::uint32_t{1}, std::multiplies<>());
}

std::vector<std::uint32_t> Mesh::lengths() const {
  std::vector<std::uint32_t> all;
  for (const MeshAxis& axis : axes) all.push_back(axis.length);
  return all;
}

std::optional<std::size_t> Mesh::find(const std::string& name) const {
  const auto found = std::ranges::find(axes, name, &MeshAxis::name);
  if (found == axes.end()) return std::nullopt;
  return static_cast<std::size_t>(found - axes.begin());
}

std::uint32_t Mesh::length(const std::string& name) const {
  const std::optional<std::size_t> axis = find(name);
  return axis ? axes[*axis].length : 1;
}

std::uint32_t Mesh::chip(std::uint32_t number) const {
  if (!order.empty()) return order[number];
  std::vector<std::uint32_t> coordinates(machine.size());  // coordinates along the machine axes
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    const std::vector<std::size_t>& on = axes[axis].machine_axes;
    for (std::size_t i = on.size(); i-- > 0;) {
      coordinates[on[i]] = number % machine[on[i]];
      number /= machine[on[i]];
    }
  }
  std::uint32_t chip = 0;
  for (std::size_t axis = 0; axis < machine.size(); ++axis)
    chip = chip * machine[axis] + coordinates[axis];
  return chip;
}

std::uint32_t Mesh::group_size(std::span<const std::size_t> mesh_axes) const {
  std::uint32_t size = 1;
  for (const std::size_t axis : mesh_axes) size *= axes[axis].length;
  return size;
}

std::vector<std::size_t> Mesh::machine_axes(std::span<const std::size_t> mesh_axes) const {
  std::vector<std::size_t> on;
  for (const std::size_t axis : mesh_axes)
    on.insert(on.end(), axes[axis].machine_axes.begin(), axes[axis].machine_axes.end());
  std::ranges::sort(on);
  return on;
}

std::vector<std::uint32_t> Mesh::whole_axes() const {
  if (axis_of_part.empty()) return machine;
  std::vector<std::uint32_t> whole(axis_of_part.back() + 1, 1);
  for (std::size_t part = 0; part < machine.size(); ++part) whole[axis_of(part)] *= machine[part];
  return whole;
}

std::vector<std::vector<std::uint32_t>> Mesh::groups_along(
    std::span<const std::size_t> mesh_axes) const {
  const auto is_along = [&](std::size_t axis) {
    return std::ranges::find(mesh_axes, axis) != mesh_axes.end();
  };
  const std::uint32_t size = group_size(mesh_axes);
  std::vector<std::vector<std::uint32_t>> groups(chips() / size, std::vector<std::uint32_t>(size));
  for (std::uint32_t position = 0; position < chips(); ++position) {
    std::uint32_t group = 0;
    std::uint32_t rank = 0;
    std::uint32_t stride = chips();
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      const std::uint32_t length = axes[axis].length;
      stride /= length;
      std::uint32_t& number = is_along(axis) ? rank : group;
      number = number * length + position / stride % length;
    }
    groups[group][rank] = position;
  }
  return groups;
}

std::vector<MeshAxis> named_axes(std::span<const std::uint32_t> lengths) {
  if (lengths.size() == 1) return {{.name = "chips", .length = lengths.front()}};
  std::vector<MeshAxis> named;
  for (const std::uint32_t length : lengths)
    named.push_back({.name = fmt::format("axis{}", named.size()), .length = length});
  return named;
}

}  // namespace equarx::steps
