// Division of the axes of a machine among the axes of a mesh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace equarx::steps {

/// Length of the part of machine axis i that mesh axis j covers, by i and j: the assignment matrix
/// of JAX's mesh_utils.
using Division = std::vector<std::vector<std::uint32_t>>;

/// All parts of length 1.
Division undivided(std::size_t machine_axes, std::size_t mesh_axes);

/// Product of the parts of a machine axis.
std::uint64_t length_of_axis(const Division& division, std::size_t axis);
/// Product of the parts that a mesh axis covers.
std::uint64_t length_of_mesh_axis(const Division& division, std::size_t axis);

/// True if the parts multiply to the lengths of all machine axes and of all mesh axes.
bool is_complete(const std::vector<std::uint32_t>& machine, const std::vector<std::uint32_t>& mesh,
                 const Division& division);

/// Divides the free part of a machine axis: each mesh axis, the slowest first, takes the greatest
/// common divisor of that and of its own free length.
void divide_slowest_first(std::size_t axis, const std::vector<std::uint32_t>& machine,
                          const std::vector<std::uint32_t>& mesh, Division& division);

/// Divides the free parts of the machine axes from `first` on like JAX's create_device_mesh with
/// allow_split_physical_axes (jax/_src/mesh_utils.py): the last mesh axis first, preferring whole
/// axes, then more of them, then axes that are already divided, then the first axes. Leaves mesh
/// axes that do not fit incomplete.
void divide_like_jax(std::size_t first, const std::vector<std::uint32_t>& machine,
                     const std::vector<std::uint32_t>& mesh, Division& division);

/// Division in which chips and positions have the same numbers, the last axis fastest; std::nullopt
/// if an end of a mesh axis lies within a machine axis that it does not divide.
std::optional<Division> divide_in_order(const std::vector<std::uint32_t>& machine,
                                        const std::vector<std::uint32_t>& mesh);

}  // namespace equarx::steps
