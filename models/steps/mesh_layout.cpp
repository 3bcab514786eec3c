#include "models/steps/mesh_layout.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/steps/axis_division.hpp"

namespace equarx::steps {
namespace {

using Lengths = std::vector<std::uint32_t>;

/// Backtracking search that assigns unused machine axes to mesh axes.
class WholeAxes {
 public:
  WholeAxes(const Lengths& machine, std::vector<MeshAxis>& axes)
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

std::string axes_text(const std::vector<MeshAxis>& axes) {
  std::vector<std::string> texts;
  for (const MeshAxis& axis : axes) texts.push_back(fmt::format("{}={}", axis.name, axis.length));
  return fmt::format("{}", fmt::join(texts, ", "));
}

void check_chips(const Lengths& machine, const std::vector<MeshAxis>& axes) {
  std::uint64_t positions = 1;
  for (const MeshAxis& axis : axes) positions *= axis.length;
  const std::uint64_t chips =
      std::accumulate(machine.begin(), machine.end(), std::uint64_t{1}, std::multiplies<>());
  if (positions != chips)
    throw std::invalid_argument(fmt::format("mesh {} has {} chips, but the machine has {}",
                                            axes_text(axes), positions, chips));
}

void check_explicit(const Lengths& machine, const std::vector<MeshAxis>& axes) {
  for (const MeshAxis& axis : axes) {
    if (axis.machine_axes.empty()) continue;
    std::uint64_t length = 1;
    for (const std::size_t on : axis.machine_axes)
      if (on < machine.size()) length *= machine[on];
    if (length != axis.length)
      throw std::invalid_argument(
          fmt::format("'{}' has length {}, but the machine axes it is mapped to have {} chips",
                      axis.name, axis.length, length));
  }
}

Lengths lengths_of(const std::vector<MeshAxis>& axes) {
  Lengths lengths;
  for (const MeshAxis& axis : axes) lengths.push_back(axis.length);
  return lengths;
}

/// The mesh of a division: a part for each machine axis and mesh axis that covers more than one
/// chip of it.
Mesh mesh_of(const Division& division, const Lengths& machine, std::vector<MeshAxis> axes) {
  Mesh mesh{.machine = {}, .axes = std::move(axes)};
  for (MeshAxis& axis : mesh.axes) axis.machine_axes.clear();
  for (std::size_t on = 0; on < machine.size(); ++on) {
    const std::size_t first = mesh.machine.size();
    for (std::size_t of = 0; of < mesh.axes.size(); ++of) {
      if (division[on][of] == 1) continue;
      mesh.axes[of].machine_axes.push_back(mesh.machine.size());
      mesh.machine.push_back(division[on][of]);
      mesh.axis_of_part.push_back(on);
    }
    if (mesh.machine.size() > first) continue;
    mesh.machine.push_back(1);
    mesh.axis_of_part.push_back(on);
  }
  if (mesh.machine.size() == machine.size()) mesh.axis_of_part.clear();  // whole axes
  return mesh;
}

/// Division of the axes that explicit mesh axes cover.
Division explicit_division(const Lengths& machine, const std::vector<MeshAxis>& axes) {
  Division division = undivided(machine.size(), axes.size());
  for (std::size_t of = 0; of < axes.size(); ++of)
    for (const std::size_t on : axes[of].machine_axes) division[on][of] = machine[on];
  return division;
}

Mesh lay_by_parts(const Lengths& machine, std::vector<MeshAxis> axes, const LayoutRules& rules) {
  const Lengths lengths = lengths_of(axes);
  Division division = explicit_division(machine, axes);
  const std::size_t first = rules.has_network ? 1 : 0;
  if (rules.has_network) divide_slowest_first(0, machine, lengths, division);
  if (rules.is_grid)
    divide_like_jax(first, machine, lengths, division);
  else
    for (std::size_t on = first; on < machine.size(); ++on)
      divide_slowest_first(on, machine, lengths, division);
  if (!is_complete(machine, lengths, division))
    throw std::invalid_argument(fmt::format(
        "cannot place mesh {} on the axes {} of the machine with these \"axes\"; remove \"axes\"",
        axes_text(axes), fmt::join(machine, "x")));
  return mesh_of(division, machine, std::move(axes));
}

Mesh lay_in_machine_order(const Lengths& machine, std::vector<MeshAxis> axes) {
  check_chips(machine, axes);
  if (const std::optional<Division> division = divide_in_order(machine, lengths_of(axes)))
    return mesh_of(*division, machine, std::move(axes));
  Mesh mesh{.machine = machine, .axes = std::move(axes)};
  mesh.order.resize(mesh.chips());
  std::iota(mesh.order.begin(), mesh.order.end(), 0U);
  return mesh;
}

}  // namespace

std::optional<Mesh> lay_whole(const std::vector<std::uint32_t>& machine,
                              std::vector<MeshAxis> axes) {
  for (MeshAxis& axis : axes) std::ranges::sort(axis.machine_axes);
  check_chips(machine, axes);
  check_explicit(machine, axes);
  if (!WholeAxes(machine, axes).lay()) return std::nullopt;
  return Mesh{machine, std::move(axes)};
}

Mesh lay_mesh(const std::vector<std::uint32_t>& machine, std::vector<MeshAxis> axes,
              const LayoutRules& rules) {
  const bool any_explicit =
      std::ranges::any_of(axes, [](const MeshAxis& axis) { return !axis.machine_axes.empty(); });
  if (rules.order == DeviceOrder::machine && !any_explicit)
    return lay_in_machine_order(machine, std::move(axes));
  if (std::optional<Mesh> whole = lay_whole(machine, axes)) return *std::move(whole);
  return lay_by_parts(machine, std::move(axes), rules);
}

Mesh lay_parts(const std::vector<std::uint32_t>& machine, std::vector<MeshAxis> axes,
               const std::vector<std::vector<AxisPart>>& parts) {
  check_chips(machine, axes);
  Division division = undivided(machine.size(), axes.size());
  for (std::size_t of = 0; of < axes.size(); ++of)
    for (const AxisPart& part : parts[of]) {
      if (part.axis >= machine.size())
        throw std::invalid_argument(
            fmt::format("'{}' is mapped to axis {}, but the machine has axes 0 to {}",
                        axes[of].name, part.axis, machine.size() - 1));
      division[part.axis][of] *= part.length;
    }
  for (std::size_t on = 0; on < machine.size(); ++on)
    if (const std::uint64_t product = length_of_axis(division, on); product != machine[on])
      throw std::invalid_argument(
          fmt::format("the parts of machine axis {} multiply to {}, but it has {} chips", on,
                      product, machine[on]));
  for (std::size_t of = 0; of < axes.size(); ++of)
    if (const std::uint64_t product = length_of_mesh_axis(division, of); product != axes[of].length)
      throw std::invalid_argument(
          fmt::format("'{}' has length {}, but the machine axes it is mapped to have {} chips",
                      axes[of].name, axes[of].length, product));
  return mesh_of(division, machine, std::move(axes));
}

Mesh lay_in_order(std::vector<std::uint32_t> machine, std::vector<MeshAxis> axes,
                  std::vector<std::uint32_t> order) {
  check_chips(machine, axes);
  Mesh mesh{.machine = std::move(machine), .axes = std::move(axes)};
  std::vector<bool> seen(mesh.chips());
  if (order.size() != seen.size())
    throw std::invalid_argument(
        fmt::format("the order has {} chips, but the machine has {}", order.size(), seen.size()));
  for (const std::uint32_t chip : order) {
    if (chip >= seen.size())
      throw std::invalid_argument(
          fmt::format("no chip {}; the machine has chips 0 to {}", chip, seen.size() - 1));
    if (seen[chip]) throw std::invalid_argument(fmt::format("the order has chip {} twice", chip));
    seen[chip] = true;
  }
  for (MeshAxis& axis : mesh.axes) axis.machine_axes.clear();
  mesh.order = std::move(order);
  return mesh;
}

}  // namespace equarx::steps
