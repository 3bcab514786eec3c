// Named axes of parallelism and their mapping to the axes of a machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace equarx::steps {

/// One dimension of parallelism, like an axis of JAX's Mesh or MaxText's `ici_*_parallelism`:
/// "fsdp", "tensor", "data".
struct MeshAxis {
  std::string name;
  std::uint32_t length = 1;
  /// Indices into Mesh::machine, ascending; the product of their lengths is `length`. Empty if the
  /// length is 1, or if Mesh::order places the chips.
  std::vector<std::size_t> machine_axes = {};

  bool operator==(const MeshAxis&) const = default;
};

/// All chips, arranged along named axes. Each machine axis, or part of one, belongs to exactly one
/// of them, unless its length is 1.
struct Mesh {
  /// Lengths of the machine's axes, or of the parts into which mesh axes divide them: consecutive,
  /// the slowest first, so that chips have the same numbers along the parts as along the axes.
  std::vector<std::uint32_t> machine;
  std::vector<MeshAxis> axes;
  /// By entry of `machine`, the machine axis that it is a part of; empty if none is divided.
  std::vector<std::size_t> axis_of_part = {};
  /// Chip at each position, if the mesh axes do not lie along parts of machine axes.
  std::vector<std::uint32_t> order = {};

  /// Number of chips of the machine.
  std::uint32_t chips() const;
  /// Lengths of the mesh axes.
  std::vector<std::uint32_t> lengths() const;
  /// Index of the axis called `name`; std::nullopt if absent.
  std::optional<std::size_t> find(const std::string& name) const;
  /// Length of the axis called `name`; 1 if absent.
  std::uint32_t length(const std::string& name) const;
  /// Machine chip at a mesh position. Positions are numbered along the mesh axes, the last one
  /// fastest, as JAX numbers the chips of a Mesh; chips are numbered along the machine axes.
  /// `number` is below chips().
  std::uint32_t chip(std::uint32_t number) const;
  /// Chips per group: the product of the lengths of `mesh_axes`.
  std::uint32_t group_size(std::span<const std::size_t> mesh_axes) const;
  /// Entries of `machine` covered by a group, ascending.
  std::vector<std::size_t> machine_axes(std::span<const std::size_t> mesh_axes) const;
  /// Machine axis of an entry of `machine`.
  std::size_t axis_of(std::size_t part) const {
    return axis_of_part.empty() ? part : axis_of_part[part];
  }
  /// Lengths of the machine axes, with their parts joined.
  std::vector<std::uint32_t> whole_axes() const;
  /// True if a mesh axis covers a part of a machine axis.
  bool is_divided() const { return !axis_of_part.empty(); }
  /// Positions of the chips of each group along `mesh_axes`, in rank order: the last axis fastest.
  std::vector<std::vector<std::uint32_t>> groups_along(
      std::span<const std::size_t> mesh_axes) const;
};

/// Default axis names: "axis0", "axis1", ... from the slowest, or "chips" for a single axis.
std::vector<MeshAxis> named_axes(std::span<const std::uint32_t> lengths);

}  // namespace equarx::steps
