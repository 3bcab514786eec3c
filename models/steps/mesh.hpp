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
  /// Indices of the machine axes it covers, ascending; the product of their lengths is `length`.
  /// Empty if the length is 1.
  std::vector<std::size_t> machine_axes = {};

  bool operator==(const MeshAxis&) const = default;
};

/// All chips, arranged along named axes. Each machine axis belongs to exactly one of them, unless
/// its length is 1.
struct Mesh {
  std::vector<std::uint32_t> machine;  ///< lengths of the machine's axes
  std::vector<MeshAxis> axes;

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
  /// Machine axes covered by a group, ascending.
  std::vector<std::size_t> machine_axes(std::span<const std::size_t> mesh_axes) const;
};

/// Default axis names: "axis0", "axis1", ... from the slowest, or "chips" for a single axis.
std::vector<MeshAxis> named_axes(std::span<const std::uint32_t> lengths);

/// Maps mesh axes to machine axes. Axes with explicit `machine_axes` keep them; the others, in
/// order, get the first unused machine axes that fit.
/// @throws std::invalid_argument if no mapping exists without splitting a machine axis; the message
/// lists possible lengths
Mesh lay_mesh(std::vector<std::uint32_t> machine, std::vector<MeshAxis> axes);

}  // namespace equarx::steps
