#include "models/steps/mesh.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace equarx::steps {
namespace {

using Lengths = std::vector<std::uint32_t>;

/// Backtracking search that assigns unused machine axes to mesh axes.
class Layout {
 public:
  Layout(const Lengths& machine, std::vector<MeshAxis>& axes)
      : machine_(machine), axes_(axes), taken_(machine.size()) {
    for (std::size_t axis = 0; axis < machine.size(); ++axis) taken_[axis] = machine[axis] == 1;
    for (const MeshAxis& axis : axes)
      for (const std::size_t on : axis.machine_axes) take(axis, on);
  }

  bool lay() { return lay_from(0); }

 private:
  void take(const MeshAxis& axis, std::size_t on) {
    if (on >= machine_.size())
      throw std::invalid_argument(
          fmt::format("'{}' is mapped to axis {}, but the machine has axes 0 to {}", axis.name, on,
                      machine_.size() - 1));
    if (taken_[on] && machine_[on] > 1)
      throw std::invalid_argument(
          fmt::format("'{}' is mapped to axis {}, which another mesh axis uses", axis.name, on));
    taken_[on] = true;
  }

  bool lay_from(std::size_t at) {
    if (at == axes_.size()) return std::ranges::all_of(taken_, [](bool taken) { return taken; });
    MeshAxis& axis = axes_[at];
    if (!axis.machine_axes.empty() || axis.length == 1) return lay_from(at + 1);
    return choose(at, 0, axis.length);
  }

  /// Tries machine axes from `from` on whose lengths multiply to `left`.
  bool choose(std::size_t at, std::size_t from, std::uint32_t left) {
    if (left == 1) return lay_from(at + 1);
    for (std::size_t on = from; on < machine_.size(); ++on) {
      if (taken_[on] || left % machine_[on] != 0) continue;
      taken_[on] = true;
      axes_[at].machine_axes.push_back(on);
      if (choose(at, on + 1, left / machine_[on])) return true;
      axes_[at].machine_axes.pop_back();
      taken_[on] = false;
    }
    return false;
  }

  const Lengths& machine_;
  std::vector<MeshAxis>& axes_;
  std::vector<bool> taken_;
};

/// Possible lengths of a mesh axis: products of machine axis lengths.
std::vector<std::uint32_t> possible_lengths(const Lengths& machine) {
  std::vector<std::uint32_t> products = {1};
  for (const std::uint32_t length : machine) {
    const std::vector<std::uint32_t> before = products;
    for (const std::uint32_t product : before) products.push_back(product * length);
  }
  std::ranges::sort(products);
  products.erase(std::unique(products.begin(), products.end()), products.end());
  return products;
}

std::string axes_text(const std::vector<MeshAxis>& axes) {
  std::vector<std::string> texts;
  for (const MeshAxis& axis : axes) texts.push_back(fmt::format("{}={}", axis.name, axis.length));
  return fmt::format("{}", fmt::join(texts, ", "));
}

void check_lengths(const Mesh& mesh) {
  std::uint64_t chips = 1;
  for (const MeshAxis& axis : mesh.axes) chips *= axis.length;
  if (chips != mesh.chips())
    throw std::invalid_argument(fmt::format("mesh {} has {} chips, but the machine has {}",
                                            axes_text(mesh.axes), chips, mesh.chips()));
  for (const MeshAxis& axis : mesh.axes) {
    if (axis.machine_axes.empty()) continue;
    std::uint64_t length = 1;
    for (const std::size_t on : axis.machine_axes)
      if (on < mesh.machine.size()) length *= mesh.machine[on];
    if (length != axis.length)
      throw std::invalid_argument(
          fmt::format("'{}' has length {}, but the machine axes it is mapped to have {} chips",
                      axis.name, axis.length, length));
  }
}

}  // namespace

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

std::vector<MeshAxis> named_axes(std::span<const std::uint32_t> lengths) {
  if (lengths.size() == 1) return {{.name = "chips", .length = lengths.front()}};
  std::vector<MeshAxis> named;
  for (const std::uint32_t length : lengths)
    named.push_back({.name = fmt::format("axis{}", named.size()), .length = length});
  return named;
}

Mesh lay_mesh(std::vector<std::uint32_t> machine, std::vector<MeshAxis> axes) {
  Mesh mesh{std::move(machine), std::move(axes)};
  for (MeshAxis& axis : mesh.axes) std::ranges::sort(axis.machine_axes);
  check_lengths(mesh);
  if (Layout(mesh.machine, mesh.axes).lay()) return mesh;
  throw std::invalid_argument(
      fmt::format("cannot map mesh {} onto a machine of {} without splitting a machine axis; a "
                  "mesh axis covers "
                  "whole machine axes, so its length can be {}",
                  axes_text(mesh.axes), fmt::join(mesh.machine, "x"),
                  fmt::join(possible_lengths(mesh.machine), ", ")));
}

}  // namespace equarx::steps
