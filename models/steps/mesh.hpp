// Named axes of parallelism, laid on the axes of a machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace equarx::steps {

/// One way to divide work, as an axis of JAX's Mesh or MaxText's `ici_*_parallelism`: "fsdp", "tensor", "data".
struct MeshAxis {
  std::string name;
  std::uint32_t length = 1;
  /// Axes of the machine that it lies on, rising: the product of their lengths is its own. None if its length is 1.
  std::vector<std::size_t> machine_axes = {};

  bool operator==(const MeshAxis&) const = default;
};

/// All chips, by named axes. Each axis of the machine belongs to one of them, unless its length is 1.
struct Mesh {
  std::vector<std::uint32_t> machine;  ///< lengths of the machine's axes
  std::vector<MeshAxis> axes;

  /// Of the machine's.
  std::uint32_t chips() const;
  /// Of its axes.
  std::vector<std::uint32_t> lengths() const;
  /// The index of an axis; none if there is none of this name.
  std::optional<std::size_t> find(const std::string& name) const;
  /// Its length; 1 if there is none of this name.
  std::uint32_t length(const std::string& name) const;
  /// The chip at a place of the mesh. Places are numbered along the axes of the mesh, the last fastest, as JAX numbers the
  /// chips of a Mesh; chips along those of the machine. `number`: below chips()
  std::uint32_t chip(std::uint32_t number) const;
  /// Chips of a group: the product of the axes' lengths.
  std::uint32_t group_size(std::span<const std::size_t> mesh_axes) const;
  /// Axes of the machine that a group lies on, rising.
  std::vector<std::size_t> machine_axes(std::span<const std::size_t> mesh_axes) const;
};

/// Axes without names of their own: "axis0" and so on from the slowest, or if there is one only "chips".
std::vector<MeshAxis> named_axes(std::span<const std::uint32_t> lengths);

/// Lays axes that have a name and a length on those of a machine; axes that say where they lie stay there. The first
/// axis gets the first of the machine's axes that fit.
/// @throws std::invalid_argument if that cannot be done without dividing an axis of the machine, with what could be.
Mesh lay_mesh(std::vector<std::uint32_t> machine, std::vector<MeshAxis> axes);

}  // namespace equarx::steps
